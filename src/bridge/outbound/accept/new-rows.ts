// Makes the outbox row of an accepted message: it may have to wait for the connection or for its pace.

import type { InstanceName } from '../../../core/ids.ts'
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
    return { ...this.#deps.rows.create(context, command), ...this.waitOf(context.sender.name) }
  }

  /** Whether a row that is accepted now waits, and until when. */
  waitOf(instance: InstanceName): Pick<NewOutboxRow, 'isWaiting' | 'isDrained' | 'expiresAt'> {
    const { clock, accounts, pace } = this.#deps
    const readiness = accounts.readinessOf(instance)
    const mustConnect = readiness !== 'ready'
    return {
      isWaiting: mustConnect || pace.isExhausted(instance),
      isDrained: mustConnect,
      expiresAt: readiness === 'away' ? clock.now() + waitingLifetimeMs : null,
    }
  }
}
