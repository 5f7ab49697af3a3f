// A world whose helpdesk inbox another bridge has filled before the service calls it its own.

import assert from 'node:assert/strict'
import type { SimGroup } from '../../../../sim/network/groups/sim-group.ts'
import { textOfMessage } from '../../../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../../sim/network/people/sim-person.ts'
import type { OtherBridge } from '../../../../src/core/other-bridges/other-bridges.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { fillChat, fillOwnContact } from '../../../harness/other-bridges.ts'
import type { BridgedChat, FilledChat, FillOptions } from '../../../harness/other-bridges.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { World } from '../../../harness/world.ts'
import type { Running, WorldOptions } from '../../../harness/world.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'

export type AdoptedBody = Record<string, number> & { last_written_at: string | null }
export type AdoptJob = { id: string; status: string; error: string | null; result: AdoptedBody | null }

export const bobsPhone = '5511888880001'
export const bobsLid = '200000000000001'

/** The tables that the take-over changes. */
const tables = ['people', 'contacts', 'conversations', 'conversation_chats', 'message_map'] as const

export class AdoptWorld extends World {
  readonly bridge: OtherBridge
  readonly bob: SimPerson
  readonly agent: DeskClient

  private constructor(running: Running, bridge: OtherBridge) {
    super(running)
    this.bridge = bridge
    this.bob = running.network.person({ phone: bobsPhone, lid: bobsLid, pushName: 'Bob' })
    this.agent = new DeskClient(running.helpdesk, running.helpdesk.world.addAgent({ name: 'Ana' }).token)
  }

  static async with(bridge: OtherBridge, options: WorldOptions = {}): Promise<AdoptWorld> {
    const running = await World.start({ ...options, helpdesk: { storage: 'disk', ...options.helpdesk } })
    const world = new AdoptWorld(running, bridge)
    return world.begin(() => world.allReady())
  }

  fill(chat: BridgedChat, options: FillOptions = {}): FilledChat {
    return fillChat(this.helpdesk, this.bridge, chat, options)
  }

  fillOwn(): void {
    fillOwnContact(this.helpdesk, this.bridge)
  }

  /** The helpdesk calls the service from now on. */
  async listen(): Promise<void> {
    const channel = { webhook_url: `${this.service.url}/api/instances/n0/webhook` }
    const { status, text } = await new DeskClient(this.helpdesk).patch('/inboxes/1', { channel })
    assert.equal(status, 200, text)
  }

  start(body: object = {}, instance = 'n0'): Promise<Answer> {
    return this.command(`/${instance}/adopt`, { from: this.bridge, ...body })
  }

  async job(id: string): Promise<AdoptJob> {
    return (await this.service.get(`/api/jobs/${id}`)).body as AdoptJob
  }

  /** Runs a job to its end; its result. */
  async adopt({ dry = false, from = this.bridge } = {}): Promise<AdoptedBody> {
    const { status, body, text } = await this.start({ from, dry_run: dry })
    assert.equal(status, 202, text)
    return this.resultOf((body as { job_id: string }).job_id)
  }

  async resultOf(id: string): Promise<AdoptedBody> {
    // A service that is overloaded by a fast clock does not say anything of the job.
    const isOver = async () => ['completed', 'failed', 'cancelled'].includes((await this.job(id)).status)
    await waitUntil('the job has ended', isOver, { timeoutMs: 300_000 })
    const { status, error, result } = await this.job(id)
    assert.equal(status, 'completed', error ?? '')
    assert.ok(result)
    return result
  }

  /** All that the helpdesk has. */
  seen() {
    const { see } = this.helpdesk
    return { contacts: see.contacts(), conversations: see.conversations(), messages: see.messages() }
  }

  /** All rows that the take-over can change. */
  async stored(): Promise<unknown[]> {
    const { database } = this.service
    const rows = []
    for (const table of tables) rows.push(await database.read(database.query.selectFrom(table).selectAll()))
    return rows
  }

  /** Writes in a conversation as an agent. */
  async write(conversation: number, content: string, extra: object = {}): Promise<number> {
    const body = { content, message_type: 'outgoing', ...extra }
    const { status, body: message, text } = await this.agent.post(`/conversations/${conversation}/messages`, body)
    assert.equal(status, 200, text)
    return message.id
  }

  received(text: string, person = this.bob): Promise<ReceivedMessage> {
    return person.messages.waitFor(`"${text}"`, ({ message }) => textOfMessage(message) === text, 60_000)
  }

  /** Bob writes, and quotes a message from before the service was there. */
  quoting(text: string, networkId: string, to: SimGroup | World['phone'] = this.phone) {
    const quoted = {
      stanzaId: networkId,
      participant: `${this.phone.user.phone}@s.whatsapp.net`,
      quotedMessage: { conversation: 'x' },
    }
    return this.bob.text(to, text, { context: quoted })
  }
}
