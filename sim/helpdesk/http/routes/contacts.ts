// The contact endpoints of the account API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { insertContact, updateContact } from '../../desk/contacts.ts'
import { mergeContacts } from '../../desk/merge-contacts.ts'
import { raceGap } from '../../desk/race-gap.ts'
import { validateContact } from '../../desk/validate-contact.ts'
import { contactJson } from '../../json/contact-json.ts'
import { conversationJson } from '../../json/conversation-json.ts'
import { inboxRecord } from '../../json/inbox-json.ts'
import { Nothing } from '../../schemas/basics.ts'
import * as contacts from '../../schemas/contact-schemas.ts'
import { ContactConversations } from '../../schemas/conversation-schemas.ts'
import { maySee, requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findAnyInbox, findContact } from '../lookups.ts'
import type { Office } from '../office.ts'
import { contactParams } from '../params.ts'
import { callerOf } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addContactRoutes(app: HttpApp, office: Office): void {
  addCreateAndUpdate(app, office)
  const { desk, files } = office
  app.get(
    '/contacts/:id',
    { schema: { params, querystring: contacts.ContactQuery, response: { 200: contacts.ContactPayload } } },
    (request) => ({
      payload: contactJson(files, findContact(office, request, request.params.id), shows(request.query)),
    }),
  )
  app.delete('/contacts/:id', { schema: { params, response: { 200: Nothing } } }, (request, reply) => {
    requireAdmin(request)
    const contact = findContact(office, request, request.params.id)
    desk.later(() => {
      desk.state.removeContact(contact)
    })
    void reply.send(null)
  })
  app.delete('/contacts/:id/avatar', { schema: { params, response: { 200: contacts.ContactPayload } } }, (request) => {
    const contact = findContact(office, request, request.params.id)
    contact.avatar = null
    return { payload: contactJson(files, contact, true) }
  })
  app.get('/contacts/:id/conversations', { schema: { params, response: { 200: ContactConversations } } }, (request) => {
    const contact = findContact(office, request, request.params.id)
    const rows = contact.contactInboxes
      .filter(({ inbox }) => maySee(callerOf(request), inbox) && !office.faults.hides(inbox))
      .flatMap((one) => one.conversations)
      .sort((a, b) => b.lastActivityAt - a.lastActivityAt)
    return { payload: rows.slice(0, 20).map((row) => conversationJson(office, row)) }
  })
  addLabels(app, office)
  app.post(
    '/actions/contact_merge',
    { schema: { body: contacts.MergeBody, response: { 200: contacts.ContactBody } } },
    async (request) => {
      const base = findContact(office, request, request.body.base_contact_id)
      await mergeContacts(desk, base, findContact(office, request, request.body.mergee_contact_id))
      return contactJson(files, base, false)
    },
  )
}

function addCreateAndUpdate(app: HttpApp, office: Office): void {
  const { desk, files } = office
  app.post(
    '/contacts',
    {
      schema: {
        querystring: contacts.ContactQuery,
        body: contacts.ContactCreate,
        response: { 200: contacts.ContactCreated },
      },
    },
    async (request) => {
      const { inbox_id: inboxId, source_id: sourceId } = request.body
      const wanted = inboxId === undefined ? undefined : { inbox: findAnyInbox(office, request, inboxId), sourceId }
      const { account } = callerOf(request)
      const values = contactParams(request.body)
      validateContact(desk, account, values)
      if (desk.settings.raceMs > 0) await raceGap(desk)
      const { contact, contactInbox } = insertContact(desk, account, values, wanted)
      return {
        payload: {
          contact: contactJson(files, contact, shows(request.query)),
          contact_inbox: {
            inbox: contactInbox ? inboxRecord(contactInbox.inbox) : null,
            source_id: contactInbox?.sourceId ?? null,
          },
        },
      }
    },
  )
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/contacts/:id',
    schema: {
      params,
      querystring: contacts.ContactQuery,
      body: contacts.ContactUpdate,
      response: { 200: contacts.ContactPayload },
    },
    handler: (request) => {
      const contact = findContact(office, request, request.params.id)
      updateContact(desk, contact, contactParams(request.body))
      return { payload: contactJson(files, contact, shows(request.query)) }
    },
  })
}

function addLabels(app: HttpApp, office: Office): void {
  const schema = { params, response: { 200: contacts.LabelsPayload } }
  app.get('/contacts/:id/labels', { schema }, (request) => ({
    payload: findContact(office, request, request.params.id).labels,
  }))
  app.post('/contacts/:id/labels', { schema: { ...schema, body: contacts.LabelsBody } }, (request) => {
    const contact = findContact(office, request, request.params.id)
    contact.labels = request.body.labels
    return { payload: contact.labels }
  })
}

export function shows(query: Static<typeof contacts.ContactQuery>): boolean {
  return query.include_contact_inboxes !== 'false'
}
