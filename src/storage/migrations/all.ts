// Every migration in order. Migrations add tables and columns. One that is `besides` removes nothing that a process of the build
// before still needs: such a process may still serve after it, so its statements must go on working.

import type { Migration } from './migration.ts'
import { foundation } from './001-foundation.ts'
import { instances } from './002-instances.ts'
import { reconnecting } from './003-reconnecting.ts'
import { inbox } from './004-inbox.ts'
import { outbox } from './005-outbox.ts'
import { deliveries } from './006-deliveries.ts'
import { openings } from './007-openings.ts'
import { retries } from './008-retries.ts'
import { senders } from './009-senders.ts'
import { destinations } from './010-destinations.ts'
import { answers } from './011-answers.ts'
import { shown } from './012-shown.ts'
import { pendingLogouts } from './013-pending-logouts.ts'
import { takeovers } from './014-takeovers.ts'
import { repeatedWrites } from './015-repeated-writes.ts'
import { lookups } from './016-lookups.ts'
import { paceOfLinks } from './017-pace-of-links.ts'
import { clientVersion } from './018-client-version.ts'
import { webhookSecrets } from './019-webhook-secrets.ts'
import { backups } from './020-backups.ts'
import { ticks } from './021-ticks.ts'
import { pictures } from './022-pictures.ts'
import { names } from './023-names.ts'
import { choices } from './024-choices.ts'
import { history } from './025-history.ts'
import { ownSettings } from './026-own-settings.ts'
import { directMessages } from './027-direct-messages.ts'
import { rejectedCalls } from './028-rejected-calls.ts'
import { labels } from './029-labels.ts'
import { live } from './030-live.ts'
import { expectedRows } from './031-expected-rows.ts'
import { nodes } from './032-nodes.ts'
import { openingClaims } from './033-opening-claims.ts'
import { pastMoves } from './034-past-moves.ts'
import { logoutClaims } from './035-logout-claims.ts'

export const migrations: readonly Migration[] = [
  foundation,
  instances,
  reconnecting,
  inbox,
  outbox,
  deliveries,
  openings,
  retries,
  senders,
  destinations,
  answers,
  shown,
  pendingLogouts,
  takeovers,
  repeatedWrites,
  lookups,
  paceOfLinks,
  clientVersion,
  webhookSecrets,
  backups,
  ticks,
  pictures,
  names,
  choices,
  history,
  ownSettings,
  directMessages,
  rejectedCalls,
  labels,
  live,
  expectedRows,
  nodes,
  openingClaims,
  pastMoves,
  logoutClaims,
]
