// Watches the simulated network for a whole run: which sessions had two connections, which ratchet steps were used twice, and
// what could not be read.

import type { SimNetwork } from '../../../../sim/network/sim-network.ts'
import type { LoggedStanza } from '../../../../sim/network/server/stanza-log.ts'
import { child } from '../../../../sim/network/wire/stanza.ts'
import type { History } from './history.ts'
import type { Customer } from './traffic.ts'
import { RatchetSteps } from './ratchet-steps.ts'

type Seen = Pick<History, 'unreadable' | 'reusedSteps' | 'replaced'>

export class Witness {
  readonly #steps = new RatchetSteps()
  readonly #replaced: { account: string; at: number }[] = []

  constructor(network: SimNetwork) {
    network.log.subscribe((one) => {
      this.#steps.note(one)
      if (isReplaced(one)) this.#replaced.push({ account: one.account ?? '', at: performance.now() })
    })
  }

  /** How many steps of ratchets were used. */
  get stepsSeen(): number {
    return this.#steps.count
  }

  seen(customers: readonly Customer[]): Seen {
    return {
      unreadable: customers.flatMap(unreadableOf),
      reusedSteps: this.#steps.reused,
      replaced: this.#replaced,
    }
  }
}

function isReplaced({ direction, tag, node }: LoggedStanza): boolean {
  return direction === 'out' && tag === 'stream:error' && child(node, 'conflict')?.attrs['type'] === 'replaced'
}

/** What the customer or the phone of the account could not open, and what the service asked the customer for again. */
function unreadableOf({ name, person, phone }: Customer): string[] {
  const unopened = [...person.undecryptable.entries, ...phone.undecryptable.entries]
  const askedAgain = person.receipts.entries.filter(({ type }) => type === 'retry')
  return [
    ...unopened.map(({ id, error }) => `${name}: ${id}: ${error}`),
    ...askedAgain.map(({ id }) => `${name}: ${id}: asked for again`),
  ]
}
