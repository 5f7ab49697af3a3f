// Contact inboxes: the address of a contact in one helpdesk inbox.

import type { ContactInboxRow, ContactRow, InboxRow } from '../state/rows.ts'
import type { Desk } from './desk.ts'
import { recordInvalid } from './rails-error.ts'
import type { RailsError } from './rails-error.ts'

type Wanted = {
  contact: ContactRow
  inbox: InboxRow
  sourceId: string | undefined
  hmacVerified?: boolean
  /** The error for a source_id that another contact owns. It depends on the controller. */
  taken: () => RailsError
}

/** Without a source_id every call creates a new row, because a random UUID never matches an existing one. */
export function buildContactInbox(desk: Desk, wanted: Wanted): ContactInboxRow {
  const { contact, inbox, sourceId } = wanted
  const known = sourceId === undefined ? undefined : desk.state.contactInboxBySource(inbox, sourceId)
  return known?.contact === contact ? known : insertContactInbox(desk, wanted)
}

/** The unique index refuses a source_id that a parallel request stored, even for the same contact. */
export function insertContactInbox(desk: Desk, wanted: Wanted): ContactInboxRow {
  const { contact, inbox, sourceId, hmacVerified = false, taken } = wanted
  if (sourceId !== undefined) refuseTakenSource(desk, inbox, sourceId, taken)
  const now = desk.clock.now()
  const row = desk.state.contactInboxes.insert((id) => ({
    id,
    contact,
    inbox,
    sourceId: sourceId ?? desk.choices.uuid('source', id),
    hmacVerified,
    pubsubToken: desk.choices.token('pubsub', id),
    createdAt: now,
    updatedAt: now,
    conversations: [],
  }))
  desk.state.addContactInbox(row)
  return row
}

export function refuseTakenSource(desk: Desk, inbox: InboxRow, sourceId: string, taken: () => RailsError): void {
  const longest = longestSourceId(desk)
  if (sourceId.length > longest) {
    throw recordInvalid(`Source is too long (maximum is ${longest} characters)`, ['source_id'])
  }
  if (desk.state.contactInboxBySource(inbox, sourceId)) throw taken()
}

export function longestSourceId({ features }: Desk): number {
  return features.longSourceIds ? 20_000 : 255
}
