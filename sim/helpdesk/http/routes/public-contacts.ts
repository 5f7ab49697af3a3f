// The public client API for contacts: no token, only the inbox identifier and the contact's source_id.

import { createHmac } from 'node:crypto'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { buildContactInbox } from '../../desk/contact-inboxes.ts'
import { createContact, updateContact } from '../../desk/contacts.ts'
import { crashed, notFound } from '../../desk/rails-error.ts'
import { publicContactRecord } from '../../json/conversation-json.ts'
import { publicInboxJson } from '../../json/inbox-json.ts'
import { PublicInbox } from '../../schemas/inbox-schemas.ts'
import * as open from '../../schemas/public-schemas.ts'
import type { ContactInboxRow, ContactRow, InboxRow } from '../../state/rows.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'
import { contactParams } from '../params.ts'

const inboxPath = Type.Object({ identifier: Type.String() })
const contactPath = Type.Object({ identifier: Type.String(), source_id: Type.String() })

type Params = Static<typeof open.PublicContactParams>

export function addPublicContactRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  app.get('/', { schema: { params: inboxPath, response: { 200: PublicInbox } } }, (request) =>
    publicInboxJson(findPublicInbox(office, request.params.identifier)),
  )
  app.post(
    '/contacts',
    { schema: { params: inboxPath, body: open.PublicContactParams, response: { 200: open.PublicContact } } },
    (request) => {
      const inbox = findPublicInbox(office, request.params.identifier)
      const isVerified = verifyIdentity(inbox, request.body)
      const row = findOrCreate(office, inbox, request.body)
      row.hmacVerified ||= isVerified
      return publicContact(row)
    },
  )
  app.get(
    '/contacts/:source_id',
    { schema: { params: contactPath, response: { 200: open.PublicContact } } },
    (request) => publicContact(findContactInbox(office, request.params)),
  )
  app.patch(
    '/contacts/:source_id',
    {
      schema: { params: contactPath, body: open.PublicContactParams, response: { 200: open.PublicContactRecord } },
    },
    (request) => {
      const { contact } = findContactInbox(office, request.params)
      updateContact(desk, contact, contactParams(request.body))
      return publicContactRecord(contact)
    },
  )
}

function findPublicInbox({ desk, faults }: Office, identifier: string): InboxRow {
  const inbox = desk.state.inboxes.find((one) => one.channel.identifier === identifier)
  if (!inbox || faults.hides(inbox)) throw notFound()
  return inbox
}

export function findContactInbox(office: Office, path: Static<typeof contactPath>): ContactInboxRow {
  const inbox = findPublicInbox(office, path.identifier)
  const row = office.desk.state.contactInboxBySource(inbox, path.source_id)
  if (!row) throw notFound()
  return row
}

/** Finds the contact by source_id, then by identifier, e-mail or phone number, and creates it last. */
function findOrCreate({ desk }: Office, inbox: InboxRow, body: Params): ContactInboxRow {
  const { source_id: sourceId } = body
  const known = sourceId === undefined ? undefined : desk.state.contactInboxBySource(inbox, sourceId)
  if (known) return known
  const contact = findPerson(desk.state, inbox, body)
  if (contact) return buildContactInbox(desk, { contact, inbox, sourceId, taken: crashed })
  const name = body.name ?? drawName(desk)
  const { contactInbox } = createContact(desk, inbox.account, { ...contactParams(body), name }, { inbox, sourceId })
  if (!contactInbox) throw crashed()
  return contactInbox
}

/** Chatwoot gives a visitor without a name two words and a number. */
function drawName({ choices, state }: Office['desk']): string {
  const visitor = state.contacts.all().length
  const word = (words: readonly string[]) =>
    words[choices.between([0, words.length - 1], 'name', visitor, words.length)]
  const number = choices.between([1, 999], 'name', visitor)
  return `${word(['quiet', 'bright', 'early', 'gentle']) ?? ''}-${word(['river', 'meadow', 'harbour']) ?? ''}-${number}`
}

function findPerson(state: Office['desk']['state'], { account }: InboxRow, body: Params): ContactRow | undefined {
  const { identifier, email, phone_number: phone } = body
  return (
    (identifier ? state.contactsWith(account, 'identifier', identifier)[0] : undefined) ??
    (email ? state.contactsWith(account, 'email', email.toLowerCase())[0] : undefined) ??
    (phone ? state.contactsWith(account, 'phoneNumber', phone)[0] : undefined)
  )
}

/** If the helpdesk inbox requires the hash, Chatwoot does not handle a missing or wrong one and answers 500. */
function verifyIdentity({ channel }: InboxRow, { identifier = '', identifier_hash: hash }: Params): boolean {
  const right = createHmac('sha256', channel.hmacToken).update(identifier).digest('hex')
  if (channel.hmacMandatory && hash !== right) throw crashed()
  return hash === right
}

function publicContact({ sourceId, pubsubToken, contact }: ContactInboxRow): Static<typeof open.PublicContact> {
  return {
    source_id: sourceId,
    pubsub_token: pubsubToken,
    id: contact.id,
    name: contact.name,
    email: contact.email,
    phone_number: contact.phoneNumber,
  }
}
