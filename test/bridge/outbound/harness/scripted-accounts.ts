// The linked accounts of the outbound bed: their records, their sessions and what they announce.

import type { OutboundAccount } from '../../../../src/app/outbound/create-outbound.ts'
import type { EventExtras, LifecycleEvent } from '../../../../src/core/lifecycle/lifecycle.ts'
import type { NetworkSession } from '../../../../src/core/network.ts'
import { blankInstance } from '../../../../src/storage/stores/accounts/instance-rows.ts'
import type { InstanceRow } from '../../../../src/storage/stores/accounts/instance-rows.ts'
import type { ScriptedNetwork } from './scripted-network.ts'

type Account = OutboundAccount & {
  readonly openSession: NetworkSession | undefined
  change(changes: Partial<InstanceRow>): void
}
export type Announced = { instance: string; event: LifecycleEvent; extras: EventExtras }

export class ScriptedAccounts {
  readonly announced: Announced[] = []
  readonly #network: ScriptedNetwork
  readonly #accounts = new Map<string, Account>()

  constructor(network: ScriptedNetwork) {
    this.#network = network
  }

  get names(): string[] {
    return [...this.#accounts.keys()]
  }

  add(name: string, phone: string): InstanceRow {
    let record: InstanceRow = { ...blankInstance(name, 1000), jid: `${phone}@s.whatsapp.net` }
    let session: NetworkSession | undefined
    const { announced } = this
    this.#accounts.set(name, {
      get record() {
        return record
      },
      get session() {
        return record.state === 'ready' ? session : undefined
      },
      get openSession() {
        return session
      },
      change: (changes) => {
        record = { ...record, ...changes }
        session = record.state === 'ready' ? (session ?? this.#network.connect(name)) : undefined
        if (!session) this.#network.disconnect(name)
      },
      countSpamBlock: () => {
        record = { ...record, spamguardBlocks: record.spamguardBlocks + 1 }
        return record.spamguardBlocks
      },
      announce: (event, extras) => {
        announced.push({ instance: name, event, extras })
      },
    })
    return record
  }

  find(name: string): Account | undefined {
    return this.#accounts.get(name)
  }

  get(name: string): Account {
    const account = this.find(name)
    if (!account) throw new Error(`there is no account ${name}`)
    return account
  }

  remove(name: string): void {
    this.#network.disconnect(name)
    this.#accounts.delete(name)
  }
}
