// The endpoints for lists of conversations: the sidebar, its counts, and the filter.

import type { Static } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { conversationsOf } from '../../desk/conversations.ts'
import { unprocessable } from '../../desk/rails-error.ts'
import { conversationJson } from '../../json/conversation-json.ts'
import { FilterBody } from '../../schemas/contact-schemas.ts'
import * as conversations from '../../schemas/conversation-schemas.ts'
import type { ConversationRow } from '../../state/rows.ts'
import { maySee } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'

const perPage = 25

type Filters = Static<typeof conversations.ConversationListQuery>

export function addConversationListRoutes(app: HttpApp, office: Office): void {
  app.get(
    '/conversations',
    {
      schema: { querystring: conversations.ConversationListQuery, response: { 200: conversations.ConversationList } },
    },
    (request) => {
      const rows = matching(office, request, request.query)
      const shown = byAssignee(rows, request, request.query.assignee_type)
      return { data: { meta: counts(rows, request), payload: page(office, shown, request.query.page) } }
    },
  )
  app.get(
    '/conversations/meta',
    {
      schema: {
        querystring: conversations.ConversationCountsQuery,
        response: { 200: conversations.ConversationCounts },
      },
    },
    (request) => ({ meta: counts(matching(office, request, request.query), request) }),
  )
  app.post(
    '/conversations/filter',
    {
      schema: {
        querystring: conversations.ConversationFilterQuery,
        body: FilterBody,
        response: { 200: conversations.FilteredConversations },
      },
    },
    (request) => {
      const visible = matching(office, request, { status: 'all' })
      const rows = visible.filter((row) => holds(row, request.body))
      const { mine_count, unassigned_count, all_count } = counts(rows, request)
      return { meta: { mine_count, unassigned_count, all_count }, payload: page(office, rows, request.query.page) }
    },
  )
}

function matching({ desk, faults }: Office, request: FastifyRequest, filters: Filters): ConversationRow[] {
  const caller = callerOf(request)
  const { status = 'open', inbox_id: inboxId, source_id: sourceId } = filters
  return conversationsOf(desk, caller.account)
    .filter((row) => maySee(caller, row.inbox) && !faults.hides(row.inbox))
    .filter((row) => status === 'all' || row.status === status)
    .filter((row) => inboxId === undefined || row.inbox.id === Number(inboxId))
    .filter((row) => sourceId === undefined || row.contactInbox.sourceId === sourceId)
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt || b.id - a.id)
}

function byAssignee(rows: ConversationRow[], request: FastifyRequest, type: string | undefined): ConversationRow[] {
  if (type === 'me') return rows.filter((row) => isMine(row, request))
  if (type === 'unassigned') return rows.filter((row) => row.assignee === null)
  return type === 'assigned' ? rows.filter((row) => row.assignee !== null) : rows
}

function isMine(row: ConversationRow, request: FastifyRequest): boolean {
  const { author } = callerOf(request)
  return author.type === 'User' && row.assignee === author.user
}

function counts(rows: ConversationRow[], request: FastifyRequest) {
  const assigned = rows.filter((row) => row.assignee !== null).length
  return {
    mine_count: rows.filter((row) => isMine(row, request)).length,
    assigned_count: assigned,
    unassigned_count: rows.length - assigned,
    all_count: rows.length,
  }
}

function page(office: Office, rows: ConversationRow[], number: string | undefined) {
  const from = (Math.max(Number(number ?? 1), 1) - 1) * perPage
  return rows.slice(from, from + perPage).map((row) => conversationJson(office, row))
}

/** Knows only the keys that a bridge needs. All conditions must hold. */
function holds(row: ConversationRow, { payload = [] }: Static<typeof FilterBody>): boolean {
  const known: Record<string, unknown> = {
    status: row.status,
    inbox_id: row.inbox.id,
    display_id: row.displayId,
    assignee_id: row.assignee?.id ?? null,
  }
  return payload.every(({ attribute_key: key, filter_operator: operator, values = [] }) => {
    if (!(key in known)) throw unprocessable(`Invalid attribute key - [${key}].`)
    const isIn = values.some((value) => value === 'all' || String(value) === String(known[key]))
    return operator === 'not_equal_to' ? !isIn : isIn
  })
}
