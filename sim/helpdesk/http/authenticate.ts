// Authenticates requests: the token, the account, and the routes that are open to bots.

import type { FastifyRequest } from 'fastify'
import { notFound, RailsError, refusedByPolicy } from '../desk/rails-error.ts'
import type { AccountRow, Author, InboxRow } from '../state/rows.ts'
import type { Features } from '../versions.ts'
import type { Office } from './office.ts'
import { callerOf, notesOn } from './request-notes.ts'
import type { Caller } from './request-notes.ts'

const botMay = new Set(
  ['', '/:id', '/:id/toggle_status', '/:id/toggle_priority', '/:id/custom_attributes', '/:id/toggle_typing_status']
    .concat('/:id/messages', '/:id/assignments')
    .map((path) => `/api/v1/accounts/:account_id/conversations${path}`),
)

/** Behind a proxy that drops headers with underscores, only the spelling with dashes arrives. */
export function tokenOf(request: FastifyRequest, dropUnderscores: boolean): string | undefined {
  const { headers } = request
  const token = headers['api-access-token'] ?? (dropUnderscores ? undefined : headers['api_access_token'])
  // An empty header counts as none.
  return (Array.isArray(token) ? token[0] : token) || undefined
}

/** Finds the owner of the token. Every kind of wrong token has its own answer. */
export function authorOf({ desk }: Office, request: FastifyRequest): Author {
  const token = tokenOf(request, desk.settings.dropUnderscoreHeaders)
  if (token === undefined) {
    throw new RailsError(401, { errors: ['You need to sign in or sign up before continuing.'] })
  }
  if (notesOn(request).fault?.kind === 'wrong_token') throw unauthorized('Invalid Access Token')
  const user = desk.state.users.find((one) => one.token === token)
  if (user) return { type: 'User', user }
  const bot = desk.state.agentBots.find((one) => one.token === token)
  if (!bot) throw unauthorized('Invalid Access Token')
  return { type: 'AgentBot', bot }
}

export function authenticate(office: Office, request: FastifyRequest): void {
  const { desk } = office
  const { fault } = notesOn(request)
  const author = authorOf(office, request)
  const account = desk.state.accounts.get(Number((request.params as { account_id: string }).account_id))
  if (!account) throw notFound()
  if (account.suspended || fault?.kind === 'account_suspended') throw unauthorized('Account is suspended')
  const role = roleOf(author, account)
  if (!role || fault?.kind === 'not_in_account') {
    throw unauthorized(
      author.type === 'AgentBot'
        ? 'Bot is not authorized to access this account'
        : 'You are not authorized to access this account',
    )
  }
  if (role === 'bot' && !isOpenToBots(desk.features, request)) throw closedToBots()
  notesOn(request).caller = { account, author, role }
}

function isOpenToBots(features: Features, { method, routeOptions }: FastifyRequest): boolean {
  const { url = '' } = routeOptions
  if (method === 'GET' || method === 'DELETE') return false
  if (!features.botTyping && url.endsWith('/toggle_typing_status')) return false
  if (!features.botCustomAttributes && url.endsWith('/custom_attributes')) return false
  return botMay.has(url)
}

export function closedToBots(): RailsError {
  return unauthorized('Access to this endpoint is not authorized for bots')
}

function unauthorized(error: string): RailsError {
  return new RailsError(401, { error })
}

function roleOf(author: Author, account: AccountRow): Caller['role'] | undefined {
  if (author.type === 'User') return author.user.memberships.get(account.id)
  return author.bot.account === account ? 'bot' : undefined
}

export function requireAdmin(request: FastifyRequest): Caller {
  const caller = callerOf(request)
  if (caller.role !== 'administrator') throw refusedByPolicy()
  return caller
}

/** An agent sees only the helpdesk inboxes of which the agent is a member. */
export function maySee({ role, author }: Caller, inbox: InboxRow): boolean {
  return role !== 'agent' || (author.type === 'User' && inbox.memberIds.has(author.user.id))
}
