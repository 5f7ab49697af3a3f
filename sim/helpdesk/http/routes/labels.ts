// The endpoints for the labels of an account. Agents see only these, even if a conversation has others.

import { recordInvalid } from '../../desk/rails-error.ts'
import * as accounts from '../../schemas/account-schemas.ts'
import type { LabelRow } from '../../state/rows.ts'
import { requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'

const titlePattern = /^[\p{L}\p{N}]+[\p{L}\p{N}_-]+$/u

export function addLabelRoutes(app: HttpApp, { desk }: Office): void {
  const { labels } = desk.state
  const of = (accountId: number) => labels.all().filter((row) => row.account.id === accountId)
  app.get('/labels', { schema: { response: { 200: accounts.LabelList } } }, (request) => ({
    payload: of(callerOf(request).account.id).map(labelJson),
  }))
  app.post('/labels', { schema: { body: accounts.LabelCreate, response: { 200: accounts.LabelBody } } }, (request) => {
    const { account } = requireAdmin(request)
    const { title: written, color = '#1f93ff' } = 'label' in request.body ? request.body.label : request.body
    const title = written.toLowerCase()
    if (!titlePattern.test(title)) throw recordInvalid('Title must only contain letters, numbers and marks', ['title'])
    if (of(account.id).some((row) => row.title === title)) {
      throw recordInvalid('Title has already been taken', ['title'])
    }
    return labelJson(labels.insert((id) => ({ id, account, title, color })))
  })
}

function labelJson({ id, title, color }: LabelRow) {
  return { id, title, description: null, color, show_on_sidebar: null }
}
