// A world with a phone whose archive is full. The whole archive is imported when the phone is linked.

import assert from 'node:assert/strict'
import type { SeenMessage } from '../../../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import { fillArchive } from '../../../../sim/network/past/fill-archive.ts'
import type { FilledArchive, FilledChat } from '../../../../sim/network/past/fill-archive.ts'
import { usageCounters } from '../../../../src/core/usage.ts'
import type { UsageCounts } from '../../../../src/core/usage.ts'
import { FastClock } from '../../../harness/fast-clock.ts'
import { owner } from '../../../harness/instance-api.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { World } from '../../../harness/world.ts'
import type { WorldOptions } from '../../../harness/world.ts'
import type { JobBody } from './import-world.ts'
import { assertSays, pastShown } from './past-shown.ts'
import type { PastShown } from './past-shown.ts'

type Options = Pick<WorldOptions, 'engine' | 'environment'> & {
  chats: number
  messages: number
  /** How many times faster than the wall the clock runs while messages are imported. A conversation gets three messages per second of this clock. */
  speed: number
}

/** What of a chat is at the helpdesk. */
export type ShownChat = { chat: FilledChat; imported: SeenMessage[]; expected: PastShown[] }

const settings = {
  SERVICE_HISTORY_IMPORT_ENABLED: 'true',
  SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '1000',
  SERVICE_HISTORY_IMPORT_DAYS: '30',
}

export class PhoneStage {
  readonly world: World
  readonly phone: SimPhone
  readonly archive: FilledArchive
  readonly #expected: ReadonlyMap<FilledChat, PastShown[]>
  readonly #ended = new Set<string>()

  readonly #clock: FastClock
  readonly #speed: number

  private constructor(world: World, phone: SimPhone, archive: FilledArchive, clock: FastClock, speed: number) {
    this.#clock = clock
    this.#speed = speed
    this.world = world
    this.phone = phone
    this.archive = archive
    this.#expected = new Map(archive.chats.map((chat) => [chat, pastShown(chat, phone)]))
  }

  /** The phone is not linked yet. */
  static async open({ chats, messages, speed, engine, environment }: Options): Promise<PhoneStage> {
    const clock = new FastClock(1)
    const world = await World.unlinked({
      ...{ clock, network: { clock }, helpdesk: { clock }, environment: { ...settings, ...environment } },
      ...(engine && { engine }),
    })
    const phone = world.network.account({ phone: owner })
    return new PhoneStage(world, phone, fillArchive(world.network, phone, { chats, messages }), clock, speed)
  }

  /** The messages that agents are to see of the archive. */
  get expected(): PastShown[] {
    return [...this.#expected.values()].flat()
  }

  /** How many messages the phone has, reactions included. */
  get kept(): number {
    return this.archive.messages + this.archive.reactions
  }

  /** The next job, once it has ended. A job is returned once. */
  async ended(type: string, timeoutMs = 500_000): Promise<JobBody> {
    const isNext = (each: JobBody) => each.type === type && isOver(each) && !this.#ended.has(each.id)
    const job = await this.#job(`a job ${type} has ended`, isNext, timeoutMs)
    this.#ended.add(job.id)
    assert.equal(job.status, 'completed', JSON.stringify(job))
    return job
  }

  /** Waits until so many messages were posted by the newest job. */
  async posted(count: number): Promise<JobBody> {
    return this.#job(`${count} messages are posted`, ({ progress }) => Number(progress['posted']) >= count)
  }

  /** The clock runs like the wall meanwhile: the connection must not time out on a busy machine. */
  async link(settings: object = {}): Promise<void> {
    await this.world.pair('a', owner, settings)
    this.#clock.setSpeed(this.#speed)
  }

  /** Links the phone to the same instance once more. */
  async linkAgain(): Promise<void> {
    const { world, phone } = this
    this.#clock.setSpeed(1)
    phone.unlink()
    await world.reaches('a', 'logged_out')
    await world.command('/a/refresh-qr')
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
    this.#clock.setSpeed(this.#speed)
  }

  /** What was imported of each chat, in the order in which the helpdesk got it. */
  shown(): ShownChat[] {
    const owners = new Map<string, FilledChat>()
    for (const [chat, expected] of this.#expected) for (const { id } of expected) owners.set(id, chat)
    const found = Map.groupBy(this.world.helpdesk.messages(), ({ sourceId }) => owners.get(sourceId ?? ''))
    return this.archive.chats.map((chat) => ({
      ...{ chat, imported: found.get(chat) ?? [], expected: this.#expected.get(chat) ?? [] },
    }))
  }

  /** Every message of the archive is at the helpdesk once, and in each conversation the oldest comes first. */
  assertComplete(): void {
    for (const { chat, imported, expected } of this.shown()) {
      assert.deepEqual(
        imported.map(({ sourceId }) => sourceId),
        expected.map(({ id }) => id),
        chat.jid,
      )
    }
    const ids = this.world.helpdesk
      .messages()
      .flatMap(({ conversationId, sourceId }) => (sourceId ? [`${conversationId} ${sourceId}`] : []))
    assert.equal(new Set(ids).size, ids.length, 'a message is there twice')
  }

  /** Each chat has one contact, and a person has the phone number, also where the phone keeps the chat under the LID. */
  assertContacts(): void {
    const contacts = this.world.helpdesk.see.contacts().map(({ phoneNumber, name }) => phoneNumber ?? name)
    const people = this.archive.chats.map(({ with: other }) =>
      'user' in other ? `+${other.user.phone}` : other.subject,
    )
    assert.deepEqual(contacts.sort(), people.sort())
  }

  /** Every message says what it says on the phone. Messages of two conversations cannot answer each other. */
  assertSaid(): void {
    for (const { imported, expected } of this.shown()) {
      const places = new Map(imported.map(({ sourceId, conversationId }) => [sourceId, conversationId]))
      for (const [n, seen] of imported.entries()) {
        const { answers, ...wanted } = expected[n] ?? assert.fail()
        const isHere = places.get(answers) === seen.conversationId
        assertSays(seen, { ...wanted, answers: isHere ? answers : null })
      }
    }
  }

  /** How many conversations have each status. */
  statuses(): Record<string, number> {
    const groups = Map.groupBy(this.world.helpdesk.see.conversations(), ({ status }) => status)
    return Object.fromEntries([...groups].map(([status, all]) => [status, all.length]))
  }

  /** Imported messages are not counted as bridged, and the service has sent nothing to other people. */
  async assertNotBridged({ live }: { live: number }): Promise<void> {
    const { messages_in, messages_out } = await this.usage()
    assert.deepEqual([messages_in, messages_out, await this.total('service_messages_total')], [live, 0, live])
    assert.deepEqual(this.sentToOthers(), [])
  }

  /** What the service has counted as usage of the instance. */
  async usage(): Promise<UsageCounts> {
    const { body } = await this.world.service.get('/api/instances/a/usage')
    const { rows } = body as { rows: UsageCounts[] }
    const sums = usageCounters.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])
    return Object.fromEntries(sums) as UsageCounts
  }

  /** The sum of a metric over its labels. */
  async total(metric: string): Promise<number> {
    const { text } = await this.world.service.get('/metrics')
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  /** How often an import had this result. */
  counted(result: string): Promise<number> {
    return this.world.metric(`service_realtime_events_total{feature="history_import",result="${result}",instance="a"}`)
  }

  /** What the service sent to people and groups: messages, and receipts other than "delivered". */
  sentToOthers(): string[] {
    const { network, phone } = { network: this.world.network, phone: this.phone.user }
    const sent = network.log.find({ account: phone.phone }).filter(({ direction }) => direction === 'in')
    return sent
      .filter(({ tag, attrs }) => ['message', 'receipt', 'chatstate'].includes(tag) && !isOwn(attrs['to'], phone))
      .filter(({ tag, attrs }) => tag !== 'receipt' || (attrs['type'] !== undefined && attrs['type'] !== 'inactive'))
      .map(({ tag, attrs }) => `${tag} ${JSON.stringify(attrs)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }

  async #job(what: string, matches: (job: JobBody) => boolean, timeoutMs?: number): Promise<JobBody> {
    let seen: JobBody | undefined
    const holds = async () => {
      const { body } = await this.world.service.get('/api/jobs')
      ;[seen] = body as JobBody[]
      return seen !== undefined && matches(seen)
    }
    await waitUntil(what, holds, { instead: () => seen, ...(timeoutMs !== undefined && { timeoutMs }) })
    return seen as JobBody
  }
}

function isOver({ status }: JobBody): boolean {
  return ['completed', 'failed', 'cancelled'].includes(status)
}

function isOwn(to: string | undefined, { pnJid, lidJid }: SimPhone['user']): boolean {
  return to !== undefined && [pnJid, lidJid].some((jid) => to.startsWith(jid.split('@')[0] ?? ''))
}
