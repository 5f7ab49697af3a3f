// Keeps the pictures of contacts as they are on the network: hears which chats are active and which pictures changed.

import { chatJid } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { PictureChange } from '../../../core/realtime.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { RealtimeCounts } from '../realtime-counts.ts'
import { AvatarQueue } from './avatar-queue.ts'
import type { AvatarTask, TaskEnd } from './avatar-queue.ts'
import type { AvatarUpdate } from './avatar-update.ts'

type Deps = {
  update: Pick<AvatarUpdate, 'run'>
  counts: Pick<RealtimeCounts, 'count'>
  /** Whether received messages of the instance are under way to the helpdesk. */
  isBusy: (instance: InstanceName) => boolean
  /** SERVICE_AVATAR_REFRESH_TTL */
  ttlMs: number
  clock: Clock
  log: Log
}

/** Until this monotonic time an active chat is no reason to look at its picture. Another destination has another contact. */
type Rest = { destination: DestinationKey; until: number }

const maxRemembered = 20_000

export class Avatars implements PerInstance {
  readonly #deps: Deps
  readonly #queue: AvatarQueue
  /** By instance and chat. */
  readonly #rests: BoundedMap<Rest>

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, ttlMs, isBusy } = deps
    this.#rests = new BoundedMap({ clock, max: maxRemembered, ttlMs })
    this.#queue = new AvatarQueue({
      ...{ clock, isBusy },
      work: (task, signal) => this.#work(task, signal),
      onDropped: (task) => {
        if (task.why === 'seen') this.#rests.delete(keyOf(task))
        deps.counts.count(task.instance, 'avatar', 'throttled')
      },
    })
  }

  /** The helpdesk has a message of this chat, so it has the contact too. Returns at once. */
  seen(instance: InstanceName, chat: Chat, destination: DestinationKey): void {
    const { clock, counts, ttlMs } = this.#deps
    const key = keyOf({ instance, chat })
    const rest = this.#rests.get(key)
    if (rest?.destination === destination && rest.until > clock.monotonic()) {
      counts.count(instance, 'avatar', 'throttled')
      return
    }
    this.#rests.set(key, { destination, until: clock.monotonic() + ttlMs })
    this.#queue.push({ instance, chat, why: 'seen', contactId: null })
  }

  changed(instance: InstanceName, { owner }: PictureChange): void {
    this.#queue.push({ instance, chat: owner, why: 'changed', contactId: null })
  }

  resync(instance: InstanceName, chat: Chat, contactId: number): void {
    this.#queue.push({ instance, chat, why: 'resync', contactId })
  }

  leave(instance: InstanceName): void {
    this.#queue.drop(instance)
    this.#rests.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  /** Ends at once. An upload under way may still reach the helpdesk; its file name is stored. */
  [Symbol.dispose](): void {
    this.#queue.close()
  }

  async #work(task: AvatarTask, signal: AbortSignal): Promise<TaskEnd> {
    const { update, counts, log } = this.#deps
    try {
      const outcome = await update.run(task, signal)
      // The counters of an instance that has left are gone.
      if (signal.aborted || !outcome) return 'unasked'
      if ('pauseMs' in outcome) return outcome
      this.#rest(task, outcome.restMs)
      counts.count(task.instance, 'avatar', outcome.result)
      return outcome.result === 'throttled' ? 'unasked' : 'asked'
    } catch (err) {
      if (signal.aborted) return 'asked'
      this.#rests.delete(keyOf(task))
      log.warn({ err, instance: task.instance }, 'a picture was not looked at')
      return 'asked'
    }
  }

  #rest(task: AvatarTask, ms: number): void {
    const rest = this.#rests.get(keyOf(task))
    if (rest) this.#rests.set(keyOf(task), { ...rest, until: this.#deps.clock.monotonic() + ms })
  }
}

function keyOf({ instance, chat }: Pick<AvatarTask, 'instance' | 'chat'>): string {
  return `${instance}|${chatJid(chat)}`
}
