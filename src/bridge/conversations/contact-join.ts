// Merges one contact into another: at the helpdesk, and then in what we know of the contacts, in one commit.
//
// If the answer of the helpdesk is lost, we look what became of the contacts for as long as the helpdesk may still merge them.
// After a crash between the two steps our rows name a contact that does not exist any more. The next message of the chat finds
// the contact by its address, and the next repair corrects the rows.

import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { MergeGate } from './merge-gate.ts'

type Deps = {
  store: Pick<ContactStore, 'conversationsOf' | 'mergeContacts'>
  gate: Pick<MergeGate, 'merge'>
  holdOf: HoldOf
  clock: Clock
  /** How long after a lost answer the helpdesk may still merge the contacts. */
  lateCommitMs: number
}

/** `drop` becomes part of `keep`. */
export type JoinedContacts = { keep: number; drop: { id: number; sourceIds: readonly string[] } }

type Target = {
  /** The instance for which they are merged. */
  instance: InstanceName
  destination: Pick<Destination, 'key'>
  helpdesk: Pick<HelpdeskInbox, 'mergeContacts' | 'describeContact'>
}

/** gone: one of the contacts does not exist any more, and they were not merged. */
type JoinOutcome = 'merged' | 'gone'

type JoinListener = (destination: DestinationKey, dropped: number) => void

const lookAgainMs = 2000

export class ContactJoin {
  readonly #deps: Deps
  readonly #listeners: JoinListener[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The listener is called when a contact has become part of another one. */
  onJoined(listener: JoinListener): void {
    this.#listeners.push(listener)
  }

  /** Rejects with a DownstreamError when the helpdesk does not merge them. */
  join(contacts: JoinedContacts, { instance, destination: { key }, helpdesk }: Target): Promise<JoinOutcome> {
    const { store, gate } = this.#deps
    const ids = { keep: contacts.keep, drop: contacts.drop.id }
    const conversations = () => store.conversationsOf(key, ids.drop)
    return gate.merge(key, ids, conversations, async () => {
      const outcome = await this.#merge(contacts, helpdesk)
      if (outcome === 'merged') await this.note(instance, key, ids)
      return outcome
    })
  }

  /** The helpdesk has merged the contacts: what we know of `drop` is about `keep`. */
  async note(instance: InstanceName, destination: DestinationKey, ids: { keep: number; drop: number }): Promise<void> {
    const { store, holdOf } = this.#deps
    await store.mergeContacts(holdOf(instance), destination, ids)
    for (const listener of this.#listeners) listener(destination, ids.drop)
  }

  async #merge(contacts: JoinedContacts, helpdesk: Target['helpdesk']): Promise<JoinOutcome> {
    const { clock, lateCommitMs } = this.#deps
    try {
      await helpdesk.mergeContacts({ keep: contacts.keep, drop: contacts.drop.id })
      return 'merged'
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      if (error.failure === 'gone') return this.#look(contacts, helpdesk, clock.monotonic(), error)
      if (!error.mayHaveHappened) throw error
      return this.#look(contacts, helpdesk, clock.monotonic() + lateCommitMs, error)
    }
  }

  /** Throws `lost` when the contacts are still two at the end. */
  async #look(
    contacts: JoinedContacts,
    helpdesk: Target['helpdesk'],
    until: number,
    lost: DownstreamError,
  ): Promise<JoinOutcome> {
    const { clock } = this.#deps
    for (;;) {
      const isLast = clock.monotonic() >= until
      const outcome = await outcomeAt(helpdesk, contacts).catch((error: unknown) => {
        if (isLast || !(error instanceof DownstreamError)) throw lost
        return 'unknown' as const
      })
      if (outcome === 'merged' || outcome === 'gone') return outcome
      if (isLast) throw lost
      await sleep(clock, lookAgainMs)
    }
  }
}

async function outcomeAt(
  helpdesk: Target['helpdesk'],
  { keep, drop }: JoinedContacts,
): Promise<JoinOutcome | 'two' | 'unknown'> {
  const [kept, dropped] = [await helpdesk.describeContact(keep), await helpdesk.describeContact(drop.id)]
  if (!kept) return 'gone'
  if (dropped) return 'two'
  return drop.sourceIds.some((sourceId) => kept.sourceIds.includes(sourceId)) ? 'merged' : 'gone'
}
