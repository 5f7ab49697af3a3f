// Hears of new names and brings the helpdesk up to date, in the background. Messages never wait for a name.

import { groupIdOf } from '../../../core/address.ts'
import { HelpdeskDatabaseError } from '../../../core/helpdesk/helpdesk-database.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import type { Log } from '../../../lib/log.ts'
import { Semaphore } from '../../../lib/queues/semaphore.ts'
import type { ChatContact } from '../../conversations/conversation-directory.ts'
import type { RenamedPerson } from '../../people/people.ts'
import type { RealtimeCounts, SyncResults } from '../realtime-counts.ts'
import type { NameOutcome, NameTarget, NameUpdate } from './name-update.ts'

type Deps = {
  isOn: boolean
  update: Pick<NameUpdate, 'person' | 'group'>
  targetOf: (instance: InstanceName) => Promise<NameTarget | null>
  counts: Pick<RealtimeCounts, 'count'>
  clock: Clock
  log: Log
}

type Work = (target: NameTarget) => Promise<NameOutcome>
type Result = SyncResults['retroactive_name']
type Queue = { gate: Semaphore; waiting: number; leaving: AbortController }

/** How many names of an instance are brought to the helpdesk at the same time. */
const width = 2
/** More names at once are those of a whole address book. A reconciliation takes care of them. */
const maxWaiting = 1000
/** While the helpdesk is away, every name fails. One line a minute is enough. */
const quietMs = 60_000

export class NameSync implements PerInstance {
  readonly #deps: Deps
  readonly #queues = new Map<InstanceName, Queue>()
  readonly #logged: BoundedMap<true>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#logged = new BoundedMap({ clock: deps.clock, max: 1000, ttlMs: quietMs })
  }

  personRenamed(instance: InstanceName, { person, before, isFullSync }: RenamedPerson): void {
    if (!this.#deps.isOn) this.#count(instance, 'skip_disabled')
    else if (isFullSync) this.#count(instance, 'skip_fullsync')
    else this.#start(instance, (target) => this.#deps.update.person(instance, { id: person.id, before }, target))
  }

  /** The contact of the chat may have an old name. Groups follow their subject also when names are off. */
  nameOutdated(chat: ChatContact): void {
    const { instance, chatId } = chat
    const { isOn, update } = this.#deps
    if (groupIdOf(chatId) !== null) this.#start(instance, (target) => update.group(chat, target))
    else if (isOn) this.#start(instance, (target) => update.person(instance, { id: chatId }, target))
  }

  leave(instance: InstanceName): void {
    this.#queues.get(instance)?.leaving.abort()
    this.#queues.delete(instance)
    this.#logged.delete(instance)
  }

  /** Does not wait for requests under way: a name whose outcome is unknown stays known as ours. */
  [Symbol.dispose](): void {
    for (const instance of [...this.#queues.keys()]) this.leave(instance)
  }

  #start(instance: InstanceName, work: Work): void {
    const queue = getOrCreate(this.#queues, instance, () => ({
      ...{ gate: new Semaphore(width), waiting: 0, leaving: new AbortController() },
    }))
    if (queue.waiting >= maxWaiting) {
      this.#count(instance, 'skip_fullsync')
      return
    }
    queue.waiting++
    void this.#run(instance, queue, work).finally(() => {
      queue.waiting--
      if (queue.waiting === 0 && this.#queues.get(instance) === queue) this.#queues.delete(instance)
    })
  }

  async #run(instance: InstanceName, { gate, leaving: { signal } }: Queue, work: Work): Promise<void> {
    const leave = await gate.enter(signal).catch(() => null)
    // The instance has left: there is nothing to count for it any more.
    if (leave === null) return
    try {
      const target = await this.#deps.targetOf(instance)
      const result = target ? (await work(target)).result : 'no_contact'
      if (!signal.aborted) this.#count(instance, result)
    } catch (err) {
      if (signal.aborted) return
      this.#count(instance, 'ds_error')
      // A failure of the database has its own line.
      if (err instanceof HelpdeskDatabaseError || this.#logged.has(instance)) return
      this.#logged.set(instance, true)
      this.#deps.log.warn({ err, instance }, 'a contact keeps its old name for now')
    } finally {
      leave()
    }
  }

  #count(instance: InstanceName, result: Result): void {
    this.#deps.counts.count(instance, 'retroactive_name', result)
  }
}
