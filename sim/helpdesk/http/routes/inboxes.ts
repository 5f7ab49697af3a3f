// The helpdesk inbox endpoints of the account API.

import { Type } from 'typebox'
import { createInbox, resetSecret, updateInbox } from '../../desk/inboxes.ts'
import { crashed } from '../../desk/rails-error.ts'
import { inboxJson } from '../../json/inbox-json.ts'
import { storeBlob, UploadedFile } from '../../desk/uploaded-file.ts'
import * as inboxes from '../../schemas/inbox-schemas.ts'
import type { InboxRow } from '../../state/rows.ts'
import { maySee, requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findInbox } from '../lookups.ts'
import type { Office } from '../office.ts'
import { inboxParams } from '../params.ts'
import { callerOf } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addInboxRoutes(app: HttpApp, office: Office): void {
  const { desk, files, faults } = office
  app.get('/inboxes', { schema: { response: { 200: inboxes.InboxList } } }, (request) => {
    const caller = callerOf(request)
    const rows = desk.state.inboxes
      .all()
      .filter((row) => row.account === caller.account && maySee(caller, row) && !faults.hides(row))
    return { payload: rows.map((row) => inboxJson(files, row, caller.role === 'administrator')) }
  })
  app.get('/inboxes/:id', { schema: { params, response: { 200: inboxes.InboxBody } } }, (request) => {
    const isAdmin = callerOf(request).role === 'administrator'
    return inboxJson(files, findInbox(office, request, request.params.id), isAdmin)
  })
  app.post('/inboxes', { schema: { body: inboxes.InboxCreate, response: { 200: inboxes.InboxBody } } }, (request) => {
    const { account } = requireAdmin(request)
    const { name = '', avatar, channel } = request.body
    if (!channel) throw crashed()
    const inbox = createInbox(desk, account, { ...inboxParams(request.body), name })
    saveAvatar(office, inbox, avatar)
    return inboxJson(files, inbox, true)
  })
  addChanges(app, office)
}

function addChanges(app: HttpApp, office: Office): void {
  const { desk, files } = office
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/inboxes/:id',
    schema: { params, body: inboxes.InboxUpdate, response: { 200: inboxes.InboxBody } },
    handler: (request) => {
      requireAdmin(request)
      const inbox = findInbox(office, request, request.params.id)
      updateInbox(desk, inbox, inboxParams(request.body))
      saveAvatar(office, inbox, request.body.avatar)
      return inboxJson(files, inbox, true)
    },
  })
  app.post('/inboxes/:id/reset_secret', { schema: { params, response: { 200: inboxes.InboxBody } } }, (request) => {
    requireAdmin(request)
    const inbox = findInbox(office, request, request.params.id)
    resetSecret(desk, inbox)
    return inboxJson(files, inbox, true)
  })
  app.delete('/inboxes/:id', { schema: { params, response: { 200: inboxes.DeletionNotice } } }, (request) => {
    requireAdmin(request)
    const inbox = findInbox(office, request, request.params.id)
    desk.later(() => {
      desk.state.removeInbox(inbox)
    })
    return { message: 'Your inbox deletion request will be processed in some time.' }
  })
}

function saveAvatar({ desk }: Office, inbox: InboxRow, file: UploadedFile | undefined): void {
  if (file instanceof UploadedFile) inbox.avatar = storeBlob(desk, file)
}
