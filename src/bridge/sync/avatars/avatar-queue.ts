// Decides which picture is looked at next: four at once for all instances together, the instances in turns.
//
// Pictures of live events come before those of a resync. An instance asks the network five times a second at most, and once a
// second while many live events wait: more questions would delay messages, and an account that asks for hundreds of pictures at
// once looks like a robot. After a day offline, for example, many people write for the first time in the same minute. A picture of
// a resync also waits until no received message is under way, for a second at most.
//
// The queue is bounded: when it is full, the oldest task is dropped. A pause stops one instance, and its tasks wait.

import { chatJid } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import { getOrCreate } from '../../../lib/keyed.ts'

export type AvatarTask = {
  instance: InstanceName
  chat: Chat
  /**
   * seen     the chat is active: a fresh picture is not looked at again
   * changed  the network says that the picture changed
   * resync   an operator asked for it
   */
  why: 'seen' | 'changed' | 'resync'
  /** The contact of the chat, if the caller knows it. */
  contactId: number | null
}

/** No further task of the instance may begin for this long, and the task is tried again then. */
export type Pause = { pauseMs: number }

/** `unasked`: the task ended without a question to the network, so the next one may begin at once. */
export type TaskEnd = Pause | 'asked' | 'unasked'

type Deps = {
  clock: Clock
  /** Whether received messages of the instance are under way to the helpdesk. */
  isBusy: (instance: InstanceName) => boolean
  /** Must not reject. */
  work: (task: AvatarTask, signal: AbortSignal) => Promise<TaskEnd>
  /** The task is not done: the queue is full, or another task of the same chat waits. */
  onDropped: (task: AvatarTask) => void
}

/** The tasks of one instance by their chat, the oldest first. */
type Waiting = {
  live: Map<string, AvatarTask>
  resync: Map<string, AvatarTask>
  stopping: AbortController
  /** Set during a pause. */
  cancelPause: (() => void) | undefined
  /** Set until the next picture of the instance may be looked at. */
  cancelPace: (() => void) | undefined
  /** How often the next picture of the resync has waited for received messages. */
  waits: number
}

type Begun = { task: AvatarTask; waiting: Waiting; cancelPace: () => void }

const atOnce = 4
const paceMs = 200
/** The pace while more live events wait than a screen shows chats. */
const crowdedPaceMs = 1000
const crowd = 20
const busyPaceMs = 10
const mostWaits = 100
const most = { live: 1000, resync: 3000 }

export class AvatarQueue {
  readonly #deps: Deps
  /** The instance whose turn comes first is the first one. */
  readonly #instances = new Map<InstanceName, Waiting>()
  #running = 0
  #isClosed = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  push(task: AvatarTask): void {
    if (this.#isClosed) return
    const { onDropped } = this.#deps
    const kind = kindOf(task)
    const list = this.#of(task.instance)[kind]
    const key = chatJid(task.chat)
    const waiting = list.get(key)
    if (waiting && (waiting.why === task.why || task.why === 'seen')) {
      onDropped(task)
      return
    }
    if (waiting) onDropped(waiting)
    list.set(key, task)
    const dropped = list.size > most[kind] ? firstOf(list) : undefined
    if (dropped) onDropped(dropped)
    this.#start()
  }

  /** Does not wait for the work under way: its signal aborts. */
  drop(instance: InstanceName): void {
    const waiting = this.#instances.get(instance)
    this.#instances.delete(instance)
    waiting?.stopping.abort()
    waiting?.cancelPause?.()
    waiting?.cancelPace?.()
  }

  /** Drops everything. Later tasks are not taken. */
  close(): void {
    this.#isClosed = true
    for (const instance of [...this.#instances.keys()]) this.drop(instance)
  }

  #of(instance: InstanceName): Waiting {
    return getOrCreate(this.#instances, instance, () => ({
      live: new Map<string, AvatarTask>(),
      resync: new Map<string, AvatarTask>(),
      stopping: new AbortController(),
      cancelPause: undefined,
      cancelPace: undefined,
      waits: 0,
    }))
  }

  #start(): void {
    while (this.#running < atOnce) {
      const next = this.#take()
      if (!next) return
      this.#running++
      void this.#run(next)
    }
  }

  #take(): Begun | undefined {
    for (const [instance, waiting] of this.#instances) {
      if (waiting.cancelPause || waiting.cancelPace || this.#waitsForMessages(instance, waiting)) continue
      const task = firstOf(waiting.live) ?? firstOf(waiting.resync)
      if (!task) continue
      this.#instances.delete(instance)
      this.#instances.set(instance, waiting)
      waiting.waits = 0
      const cancelPace = this.#pace(waiting, waiting.live.size > crowd ? crowdedPaceMs : paceMs)
      return { task, waiting, cancelPace }
    }
    return undefined
  }

  #waitsForMessages(instance: InstanceName, waiting: Waiting): boolean {
    const { live, resync, waits } = waiting
    if (live.size > 0 || resync.size === 0 || waits === mostWaits || !this.#deps.isBusy(instance)) return false
    waiting.waits++
    this.#pace(waiting, busyPaceMs)
    return true
  }

  #pace(waiting: Waiting, ms: number): () => void {
    const cancelPace = this.#deps.clock.after(ms, () => {
      waiting.cancelPace = undefined
      this.#start()
    })
    waiting.cancelPace = cancelPace
    return cancelPace
  }

  async #run({ task, waiting, cancelPace }: Begun): Promise<void> {
    const { signal } = waiting.stopping
    const end = await this.#deps.work(task, signal)
    this.#running--
    if (end === 'unasked' && waiting.cancelPace === cancelPace) {
      cancelPace()
      waiting.cancelPace = undefined
    }
    if (typeof end === 'object' && !signal.aborted) this.#pause(task, waiting, end.pauseMs)
    this.#start()
  }

  #pause(task: AvatarTask, waiting: Waiting, ms: number): void {
    waiting.cancelPause ??= this.#deps.clock.after(ms, () => {
      waiting.cancelPause = undefined
      this.#start()
    })
    const kind = kindOf(task)
    const key = chatJid(task.chat)
    if (waiting[kind].has(key)) this.#deps.onDropped(task)
    else waiting[kind] = new Map([[key, task], ...waiting[kind]])
  }
}

function kindOf({ why }: AvatarTask): 'live' | 'resync' {
  return why === 'resync' ? 'resync' : 'live'
}

/** Takes the oldest task out of the list. */
function firstOf(list: Map<string, AvatarTask>): AvatarTask | undefined {
  const [first] = list
  if (first) list.delete(first[0])
  return first?.[1]
}
