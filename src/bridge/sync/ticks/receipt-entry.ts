// One message id of a receipt, on its way through the intake.

import type { Chat } from '../../../core/address.ts'
import type { InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { Receipt } from '../../../core/realtime.ts'
import type { Tick } from '../../../core/tick.ts'
import type { ReceiptEffect } from './receipt-effect.ts'

export type ReceiptEntry = {
  instance: InstanceName
  id: NetworkMessageId
  chat: Chat
  effect: Tick | 'seen'
  /** On the scale of the clock that never goes back. */
  since: number
  /** Aborted when the connection ends. */
  gone: AbortSignal
  isEnded: boolean
  /** The receipt is confirmed when all of its entries have ended. */
  end: () => void
}

export function isOpen({ isEnded, gone }: ReceiptEntry): boolean {
  return !isEnded && !gone.aborted
}

type Common = Pick<ReceiptEntry, 'instance' | 'since' | 'gone'>

/** The entries of receipts that have an effect, and the promise that all of them have ended. */
export function entriesOf(
  receipts: readonly { receipt: Receipt; effect: ReceiptEffect }[],
  common: Common,
): { entries: ReceiptEntry[]; ended: Promise<void> } {
  const all = Promise.withResolvers<undefined>()
  let open = 0
  const end = () => {
    open -= 1
    if (open === 0) all.resolve(undefined)
  }
  const entries = receipts.flatMap(({ receipt: { chat, ids }, effect }) =>
    effect === 'off' || effect === 'filtered'
      ? []
      : ids.map((id) => ({ ...common, id, chat, effect, isEnded: false, end })),
  )
  open = entries.length
  return { entries, ended: all.promise }
}
