// One lane per chat: the work of a chat runs in order. Two chats that turn out to be one share a lane from then on.

import { KeyedLanes } from './keyed-lanes.ts'
import { getOrCreate } from '../keyed.ts'
import { MergedKeys } from './merged-keys.ts'

export class ChatLanes {
  readonly #lanes = new KeyedLanes()
  readonly #merged = new Map<string, MergedKeys>()

  /** `work` is given the id that the chat has when its turn comes. */
  run<T>(instance: string, chatId: string, work: (chatId: string) => Promise<T>): Promise<T> {
    const current = () => this.#merged.get(instance)?.currentOf(chatId) ?? chatId
    return this.#lanes.run(keyOf(instance, current()), () => work(current()))
  }

  /**
   * Work of the kept chat that comes later waits for the work of the dropped chat. Resolves when the work of the dropped chat
   * has ended.
   */
  async merge(instance: string, keep: string, drop: string): Promise<void> {
    getOrCreate(this.#merged, instance, () => new MergedKeys()).merge(keep, drop)
    const ended = this.#lanes.run(keyOf(instance, drop), () => Promise.resolve())
    await this.#lanes.run(keyOf(instance, keep), () => ended)
  }

  leave(instance: string): void {
    this.#merged.delete(instance)
  }
}

function keyOf(instance: string, chatId: string): string {
  return `${instance} ${chatId}`
}
