// Makes the outbox row of an accepted message: it may have to wait for the connection or for its pace.

import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { Pace } from '../../../guard/pace.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { SendCommand } from './commands.ts'
import type { MessageRows } from './message-rows.ts'
import type { SendContext } from './send-context.ts'

type Deps = {
  accounts: Pick<SendingAccounts, 'readinessOf'>
  pace: Pick<Pace, 'isExhausted'>
  rows: Pick<MessageRows, 'create'>
  clock: Clock
}

export class NewRows {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  rowOf(context: Pick<SendContext, 'sender' | 'destination' | 'ref'>, command: SendCommand): NewOutboxRow {
    const { clock, accounts, pace, rows } = this.#deps
    const { name } = context.sender
    const now = clock.now()
    const readiness = accounts.readinessOf(name)
    const mustConnect = readiness !== 'ready'
    return {
      ...rows.create(context, command),
      isWaiting: mustConnect || pace.isExhausted(name),
      isDrained: mustConnect,
      expiresAt: readiness === 'away' ? now + waitingLifetimeMs : null,
    }
  }
}
