// Reports receipts before the library confirms them to the network. The network tells of a receipt again until we confirm it.

import type { Person } from '../../core/address.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Receipt, RealtimeReception } from '../../core/realtime.ts'
import type { Account } from '../account/account.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { receiptsOf } from '../decode/receipt.ts'
import type { BinaryNode } from '../library/library.ts'

type Deps = {
  account: Pick<Account, 'sent'>
  instance: InstanceName
  reception: Partial<RealtimeReception>
  own: () => Person
  now: () => number
  /** Aborted when the connection ends. */
  gone: AbortSignal
}

export class ReceiptStanzas {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns a promise if the library must wait before it confirms the receipts. */
  report(stanza: BinaryNode): Promise<void> | undefined {
    const { instance, reception, own, now, gone } = this.#deps
    const receipts = receiptsOf(stanza, { own: own(), now })
    if (!receipts || receipts.length === 0) return undefined
    const told = receipts.flatMap((receipt) => this.#withoutAsides(receipt))
    return runOutside(() => reception.onReceipts?.(instance, told, gone))
  }

  /** Phones also send receipts for our reactions, edits and revokes. These are no messages of their own. */
  #withoutAsides(receipt: Receipt): Receipt[] {
    const [asides, messages] = [true, false].map((isAside) =>
      receipt.ids.filter((id) => this.#isAside(id) === isAside),
    ) as [string[], string[]]
    if (asides.length === 0) return [receipt]
    const other: Receipt = { ...receipt, type: 'other', ids: asides }
    return messages.length === 0 ? [other] : [{ ...receipt, ids: messages }, other]
  }

  #isAside(id: string): boolean {
    const sent = this.#deps.account.sent.get(id)
    return sent !== undefined && Boolean(sent.protocolMessage ?? sent.reactionMessage ?? sent.editedMessage)
  }
}
