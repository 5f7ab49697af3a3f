// Everything one connection receives with: the journal, the gate before the library, and what the library has to act on.

import type { Person } from '../../core/address.ts'
import type { Log } from '../../lib/log.ts'
import { personOf } from '../decode/origin.ts'
import { Journal } from './journal.ts'
import type { JournalDeps } from './journal.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import { PhoneMessages } from './phone-messages.ts'
import type { AuthenticationCreds, BinaryNode, WASocket } from '../library/library.ts'
import { NameListener } from './name-listener.ts'
import { PlainStanzas } from './plain-stanzas.ts'

type Deps = JournalDeps & { creds: AuthenticationCreds; connectionKeys: ConnectionKeys; gone: AbortSignal; log: Log }
type Inside = <Result>(work: () => Result) => Result

export class Receiver {
  readonly journal: Journal
  readonly #deps: Deps
  readonly #gate: PlainStanzas
  #business: PhoneMessages | undefined
  #inside: Inside = (work) => work()

  constructor(deps: Deps) {
    this.#deps = deps
    const { account, instance, reception, clock, creds } = deps
    const own = () => ownPerson(creds)
    this.journal = new Journal({
      ...deps,
      own,
      onBusiness: (business) => {
        this.#inside(() => this.#business?.act(business))
      },
    })
    const now = () => clock.now()
    this.#gate = new PlainStanzas({ journal: this.journal, account, instance, reception, own, now })
  }

  /** For the listeners of the socket. */
  readonly gate = (event: string, ...args: unknown[]): Promise<void> | undefined =>
    event.startsWith('CB:') ? this.#gate.storeFirst(event, args[0] as BinaryNode) : undefined

  /** `inside` runs work where faults are traced to this connection. */
  attach(socket: WASocket, inside: Inside): void {
    this.#inside = inside
    this.#business = new PhoneMessages({ ...this.#deps, socket })
    new NameListener(this.#deps).listen(socket)
  }

  /** Once everything that waited on the server is here. */
  resume(): void {
    void this.#inside(() => this.#business?.resume().catch(() => undefined))
  }
}

function ownPerson({ me }: AuthenticationCreds): Person {
  return personOf(me?.id, me?.lid) ?? { phone: null, lid: null }
}
