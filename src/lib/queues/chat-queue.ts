// The queue of one chat.

import { ItemList } from './item-list.ts'
import type { QueueItem } from './item-list.ts'

export type ChatQueue<Row> = {
  chatId: string
  waiting: ItemList<Row>
  current?: QueueItem<Row> | undefined
  running?: Promise<undefined> | undefined
  /** A start was asked for since the running work began. */
  isWoken: boolean
  cancelTimer?: () => void
  /** Work that must end before this queue takes its next row. */
  before: Promise<unknown>[]
  /** Merged queues whose work may still be under way. */
  absorbed: ChatQueue<Row>[]
  mergedInto?: ChatQueue<Row>
}

export function newChatQueue<Row>(chatId: string, before: Promise<unknown> | undefined): ChatQueue<Row> {
  return { chatId, waiting: new ItemList<Row>(), isWoken: false, before: before ? [before] : [], absorbed: [] }
}

/** The rows of both become one queue in the order of ids. */
export function mergeChatQueues<Row>(keep: ChatQueue<Row>, drop: ChatQueue<Row>): void {
  drop.cancelTimer?.()
  drop.mergedInto = keep
  keep.absorbed.push(drop, ...drop.absorbed)
  if (drop.running) keep.before.push(drop.running)
  keep.before.push(...drop.before.splice(0))
  keep.waiting.absorb(drop.waiting)
}

/** The queue that has the rows of this one by now. */
export function homeOf<Row>(queue: ChatQueue<Row>): ChatQueue<Row> {
  let home = queue
  while (home.mergedInto) home = home.mergedInto
  return home
}

export function lengthOf({ waiting, current }: ChatQueue<unknown>): number {
  return waiting.length + (current ? 1 : 0)
}

export function idsOf({ waiting, current, absorbed }: ChatQueue<unknown>): string[] {
  const underWay = [current, ...absorbed.map((queue) => queue.current)]
  return [...underWay.flatMap((item) => item?.id ?? []), ...waiting.ids()]
}
