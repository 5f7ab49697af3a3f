// The endpoints for the addresses of a contact in the helpdesk inboxes of the account.

import { Type } from 'typebox'
import { buildContactInbox } from '../../desk/contact-inboxes.ts'
import { crashed } from '../../desk/rails-error.ts'
import { contactInboxJson } from '../../json/contact-json.ts'
import * as contacts from '../../schemas/contact-schemas.ts'
import { maySee } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findContact, findInbox } from '../lookups.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addContactInboxRoutes(app: HttpApp, office: Office): void {
  const { desk, files } = office
  app.post(
    '/contacts/:id/contact_inboxes',
    { schema: { params, body: contacts.ContactInboxCreate, response: { 200: contacts.ContactInboxBody } } },
    (request) => {
      const { inbox_id: inboxId, source_id: sourceId, hmac_verified: hmacVerified = false } = request.body
      const contact = findContact(office, request, request.params.id)
      const inbox = findInbox(office, request, inboxId)
      const row = buildContactInbox(desk, { contact, inbox, sourceId, hmacVerified, taken: crashed })
      return contactInboxJson(files, row)
    },
  )
  app.get(
    '/contacts/:id/contactable_inboxes',
    { schema: { params, response: { 200: contacts.ContactableInboxes } } },
    (request) => {
      const caller = callerOf(request)
      const contact = findContact(office, request, request.params.id)
      const inboxes = desk.state.inboxes
        .all()
        .filter((one) => one.account === caller.account && maySee(caller, one) && !office.faults.hides(one))
      const payload = inboxes.map((inbox) => {
        const known = contact.contactInboxes.findLast((one) => one.inbox === inbox)
        // Chatwoot generates this source_id for the answer and does not store it.
        const sourceId = known?.sourceId ?? desk.choices.uuid('contactable', request.id, inbox.id)
        return contactInboxJson(files, { inbox, sourceId })
      })
      return { payload }
    },
  )
}
