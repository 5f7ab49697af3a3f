// Merges two contacts that are one person. Each attempt looks at both again before: agents may have changed them since the list was
// read, or while the helpdesk was away.

import { parseChat, phoneJid } from '../../../core/address.ts'
import type { ListedContact } from '../../../core/helpdesk/contact.ts'
import type { PairOutcome } from '../../../core/jobs/contacts-jobs.ts'
import type { JobTarget } from '../../../jobs/helpdesk-attempts.ts'
import type { Log } from '../../../lib/log.ts'
import type { ContactJoin } from '../../conversations/contact-join.ts'
import { identityOf, isSameNumber } from './contact-identity.ts'
import { judgePair } from './find-pairs.ts'
import type { ContactPair, ScannedContact } from './find-pairs.ts'
import type { ContactsPlace, HelpdeskRequests } from './helpdesk-requests.ts'
import type { MergeLog, MergingJob } from './merge-log.ts'

type Deps = {
  requests: Pick<HelpdeskRequests, 'ask'>
  join: Pick<ContactJoin, 'join'>
  mergeLog: Pick<MergeLog, 'note'>
  log: Log
}

/** The contacts as they were before the last request to merge them. */
type MergeState = { keep: ListedContact | null; drop: ListedContact | null }

/** Two looks and the merge. */
export const requestsOfPair = 3

export class PairMerge {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with a DownstreamError when the helpdesk refuses the merge. */
  async run(job: MergingJob, pair: ContactPair, place: ContactsPlace, signal: AbortSignal): Promise<PairOutcome> {
    const { requests } = this.#deps
    const state: MergeState = { keep: null, drop: null }
    const attempt = (target: JobTarget) => this.#attempt(job, pair, state, target)
    const outcome = await requests.ask(place, attempt, signal, requestsOfPair)
    if (outcome === 'merged' && state.keep) await this.#givePhone(state.keep, pair, place, signal)
    return outcome
  }

  /** An attempt before this one may have merged them, and its answer was lost. `state` then has the contact that is gone. */
  async #attempt(job: MergingJob, pair: ContactPair, state: MergeState, target: JobTarget): Promise<PairOutcome> {
    const { join, mergeLog } = this.#deps
    const keep = await target.helpdesk.describeContact(pair.keep.id)
    const drop = (await target.helpdesk.describeContact(pair.drop.id)) ?? state.drop
    if (!keep || !isStill(keep, pair.keep, pair)) return 'changed'
    if (!drop || !isStill(drop, pair.drop, pair)) return 'changed'
    const refusal = judgePair(keep, drop)
    if (refusal !== null) return refusal
    await mergeLog.note(job, pair)
    Object.assign(state, { keep, drop })
    const contacts = { keep: keep.id, drop: { id: drop.id, sourceIds: drop.sourceIds } }
    return (await join.join(contacts, target)) === 'gone' ? 'changed' : 'merged'
  }

  /** The contact of an anonymous id gets the phone number. The next message of the person repeats this if it fails. */
  async #givePhone({ id, identifier }: ListedContact, pair: ContactPair, place: ContactsPlace, signal: AbortSignal) {
    const { requests, log } = this.#deps
    const { phone } = pair.drop
    const isOurs = identifier === null || parseChat(identifier) !== undefined
    if (pair.keep.phone !== null || phone === null || !isOurs) return
    try {
      const changes = { phone: `+${phone}`, identifier: phoneJid(phone) }
      await requests.ask(place, ({ helpdesk }) => helpdesk.updateContact(id, changes), signal)
    } catch (err) {
      signal.throwIfAborted()
      log.warn({ err, ...place, contact: id }, 'a merged contact has no phone number yet')
    }
  }
}

/**
 * Whether the contact stands for the same person or group as when the list was read, and for no other person: an agent may have merged
 * another person into it.
 */
function isStill(contact: ListedContact, { group, lids }: ScannedContact, { keep, drop, known }: ContactPair): boolean {
  const identity = identityOf(contact)
  if (!identity) return false
  if (identity.kind === 'group') return identity.id === group
  if (group !== null) return false
  if (!identity.lids.every((lid) => known.lids.includes(lid))) return false
  if (!identity.otherPhones.every((phone) => known.formerPhones.includes(phone))) return false
  const number = keep.phone ?? drop.phone
  if (identity.phone !== null) return number !== null && isSameNumber(identity.phone, number)
  return lids.some((lid) => identity.lids.includes(lid))
}
