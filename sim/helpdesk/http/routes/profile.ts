// The profile of the token's owner, and the version and health of the installation.

import type { Static } from 'typebox'
import { RailsError } from '../../desk/rails-error.ts'
import { presence } from '../../json/message-json.ts'
import { iso } from '../../json/times.ts'
import * as accounts from '../../schemas/account-schemas.ts'
import type { UserRow } from '../../state/rows.ts'
import { releases } from '../../versions.ts'
import { authorOf, closedToBots } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'

export function addProfileRoute(app: HttpApp, office: Office): void {
  const { desk } = office
  app.get('/api/v1/profile', { schema: { response: { 200: accounts.Profile } } }, (request) => {
    const author = authorOf(office, request)
    if (author.type === 'AgentBot') throw closedToBots()
    return profileJson(office, author.user)
  })
  app.get('/api', () => ({
    version: releases[desk.settings.version],
    timestamp: iso(desk.clock.now()).slice(0, 19).replace('T', ' '),
    queue_services: 'ok',
    data_services: 'ok',
  }))
  app.get('/health', () => ({ status: 'woot' }))
  // The Platform API takes only tokens of its own, which the simulator does not have.
  app.get('/platform/*', () => {
    throw new RailsError(401, { error: 'Invalid access_token' })
  })
}

function profileJson({ desk }: Office, user: UserRow): Static<typeof accounts.Profile> {
  const memberships = [...user.memberships].flatMap(([id, role]) => {
    const account = desk.state.accounts.get(id)
    if (!account) return []
    return [
      {
        id,
        name: account.name,
        status: account.suspended ? 'suspended' : 'active',
        onboarding_step: null,
        active_at: null,
        role,
        permissions: [role],
        availability: 'online',
        availability_status: presence(user),
        auto_offline: true,
        custom_role_id: null,
        custom_role: null,
      },
    ]
  })
  return {
    id: user.id,
    access_token: user.token,
    account_id: memberships[0]?.id ?? 1,
    available_name: user.name,
    avatar_url: '',
    confirmed: true,
    display_name: null,
    message_signature: null,
    email: user.email,
    inviter_id: null,
    provider: 'email',
    name: user.name,
    pubsub_token: desk.choices.token('user pubsub', user.id),
    role: memberships[0]?.role ?? 'agent',
    ui_settings: {},
    uid: user.email,
    type: null,
    accounts: memberships,
  }
}
