// The endpoints for the contact list, the search and the filter.

import { listedContacts, pageOf, searchContacts } from '../../desk/contact-lists.ts'
import { filterContacts } from '../../desk/contact-filter.ts'
import { crashed, RailsError, throttled } from '../../desk/rails-error.ts'
import { contactJson } from '../../json/contact-json.ts'
import * as contacts from '../../schemas/contact-schemas.ts'
import type { HttpApp } from '../http-app.ts'
import { findInbox } from '../lookups.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'
import { MinuteLimit } from '../minute-limit.ts'
import { shows } from './contacts.ts'

export function addContactListRoutes(app: HttpApp, office: Office): void {
  const { desk, files } = office
  app.get(
    '/contacts',
    { schema: { querystring: contacts.ContactListQuery, response: { 200: contacts.ContactList } } },
    (request) => {
      const { page = 1, sort, 'labels[]': labels = [] } = request.query
      const wanted = [labels].flat()
      const rows = listedContacts(desk, callerOf(request).account).filter((row) =>
        wanted.every((label) => row.labels.includes(label)),
      )
      const found = pageOf(desk, rows, Number(page), sort)
      return {
        meta: { count: found.total, current_page: page },
        payload: found.rows.map((row) => contactJson(files, row, shows(request.query))),
      }
    },
  )
  addSearch(app, office)
  app.post(
    '/contacts/filter',
    {
      schema: {
        querystring: contacts.ContactFilterQuery,
        body: contacts.FilterBody,
        response: { 200: contacts.ContactList },
      },
    },
    (request) => {
      const { page = 1, sort } = request.query
      if (!request.body.payload) throw crashed()
      const rows = filterContacts(desk, callerOf(request).account, request.body.payload)
      const found = pageOf(desk, rows, Number(page), sort)
      return {
        meta: { count: found.total, current_page: page },
        payload: found.rows.map((row) => contactJson(files, row, shows(request.query))),
      }
    },
  )
  app.post(
    '/contact_inboxes/filter',
    { schema: { body: contacts.ContactInboxFilter, response: { 200: contacts.ContactBody } } },
    (request) => {
      const inbox = findInbox(office, request, request.body.inbox_id)
      const found = desk.state.contactInboxBySource(inbox, request.body.source_id ?? '')
      if (!found) throw new RailsError(404, null)
      return contactJson(files, found.contact, true)
    },
  )
}

function addSearch(app: HttpApp, office: Office): void {
  const { desk, files } = office
  const limit = new MinuteLimit(desk.clock)
  app.get(
    '/contacts/search',
    { schema: { querystring: contacts.ContactSearchQuery, response: { 200: contacts.ContactSearchResult } } },
    (request) => {
      const { account } = callerOf(request)
      const { searchLimit, searchHasMore } = desk.features
      if (searchLimit && !limit.admit(String(account.id), desk.settings.searchesPerMinute)) throw throttled()
      const { q = '', page = 1, sort } = request.query
      const found = pageOf(desk, searchContacts(desk, account, q), Number(page), sort)
      if (q.trim() === '') return { meta: { count: null, current_page: page, has_more: null }, payload: [] }
      return {
        meta: searchHasMore
          ? { count: found.rows.length, current_page: page, has_more: found.hasMore }
          : { count: found.total, current_page: page },
        payload: found.rows.map((row) => contactJson(files, row, shows(request.query))),
      }
    },
  )
}
