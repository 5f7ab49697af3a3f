// Every migration in order. Additive only: an older row stays readable, nothing is dropped.

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
import { shown } from './012-shown.ts'

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
  shown,
]
