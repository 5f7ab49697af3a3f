// Says what a receipt changes at the helpdesk, by its type and the settings.

import type { ReceiptType } from '../../../core/realtime.ts'
import type { Tick } from '../../../core/tick.ts'

export type ReceiptSettings = { readReceipts: boolean; deliveryStatus: boolean }

/**
 * delivered, read  the message gets this tick
 * seen             the owner has read the chat: agents need not
 * filtered         nothing, although receipts are carried
 * off              receipts are not carried at all, and not counted
 */
export type ReceiptEffect = Tick | 'seen' | 'filtered' | 'off'

export function effectOf(type: ReceiptType, { readReceipts, deliveryStatus }: ReceiptSettings): ReceiptEffect {
  if (!readReceipts && !deliveryStatus) return 'off'
  // Without read receipts, a message that was read still counts as delivered.
  const delivered = deliveryStatus ? 'delivered' : 'filtered'
  switch (type) {
    case 'read':
    case 'played':
      return readReceipts ? 'read' : delivered
    case 'delivered':
      return delivered
    case 'read_self':
      return readReceipts ? 'seen' : 'filtered'
    case 'other':
      return 'filtered'
  }
}
