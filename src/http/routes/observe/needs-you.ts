// What an operator must look at: everything that health knows to be wrong, as sentences, the most urgent first.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { cureOfHold } from '../../../core/helpdesk/hold-cure.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { nullable, Timestamp, toTimestamp } from '../../schemas.ts'
import { setupProblems } from '../health.ts'
import type { HealthDeps } from '../health.ts'
import type { OverviewRow } from './overview-row.ts'

/** In the order of their urgency. */
const needKinds = [
  'database',
  'ownership',
  'worker_failed',
  'database_set_back',
  'quarantined',
  'settings_differ',
  'network_unreachable',
  'client_refused',
  'destination_held',
  'callbacks_lost',
  'callbacks_refused',
  'clock_differs',
  'logged_out',
  'parked',
  'setup',
  'ban_risk',
  'deliveries_exhausted',
] as const

type NeedKind = (typeof needKinds)[number]

export const Need = Type.Object(
  {
    kind: Type.Unsafe<NeedKind>({ type: 'string', enum: [...needKinds] }),
    instance: nullable(Type.String()),
    destination: nullable(Type.String({ description: 'The helpdesk inbox' })),
    sentence: Type.String(),
    cure: Type.String({ description: 'What an operator can do' }),
    since: nullable(Timestamp),
  },
  { title: 'Need' },
)
type Need = Static<typeof Need>

export type NeedDeps = Omit<HealthDeps, 'version' | 'outboxPending' | 'inbound' | 'pendingLogouts'> & {
  exhaustedByInstance: () => readonly { instance: InstanceName; count: number; since: number }[]
}

type Facts = Omit<Need, 'kind' | 'instance' | 'destination' | 'since'> & {
  instance?: InstanceName
  destination?: string | null
  since?: number | null
}

function need(kind: NeedKind, { instance, destination, sentence, cure, since }: Facts): Need {
  const at = since === undefined || since === null ? null : toTimestamp(since)
  return { kind, instance: instance ?? null, destination: destination ?? null, sentence, cure, since: at }
}

export function listNeeds(deps: NeedDeps, rows: readonly Static<typeof OverviewRow>[]): Need[] {
  return [
    ...ofProcess(deps),
    ...ofNodes(deps),
    ...ofNetwork(deps),
    ...ofHelpdesks(deps),
    ...rows.filter(({ state }) => state === 'logged_out').map(loggedOut),
    ...rows.filter(({ parked }) => parked > 0).map(parked),
    ...setupProblems(deps).map((each) => need('setup', each)),
    ...rows.filter(({ ban_level }) => ban_level === 'high').map(banRisk),
    ...deps.exhaustedByInstance().map(exhausted),
  ]
}

/** What several nodes see is listed once; the most urgent comes first. */
export function joinNeeds(lists: readonly Need[][]): Need[] {
  const keyed = lists.flat().map((each) => {
    const { kind, instance, destination, sentence } = each
    const subject = instance ?? destination ?? sentence
    return [JSON.stringify([kind, subject]), each] as const
  })
  // The first one stays: this node comes first.
  const all = new Map(keyed.toReversed())
  return [...all.values()]
    .toReversed()
    .sort((one, other) => needKinds.indexOf(one.kind) - needKinds.indexOf(other.kind))
}

function ofProcess({ database, ownership, workers }: NeedDeps): Need[] {
  const failed = workers.filter(({ failure }) => failure)
  const owner = ownership()
  return [
    ...when(!database.state.ok, () =>
      need('database', {
        sentence: 'the database does not answer',
        cure: 'look at the database and its disk; messages wait meanwhile',
      }),
    ),
    ...when(owner !== 'held', () =>
      need('ownership', {
        sentence: `this process does not act on the accounts: ${owner}`,
        cure: 'look whether another process of the service runs on the same database',
      }),
    ),
    ...failed.map(({ name }) =>
      need('worker_failed', {
        sentence: `the last run of the background work ${name} failed`,
        cure: 'it is tried again by itself; the log says why it failed',
      }),
    ),
  ]
}

function ofNodes({ nodes }: NeedDeps): Need[] {
  const shown = nodes.shown()
  if (!shown) return []
  const differing = shown.nodes.filter(({ settingsDiffer }) => settingsDiffer)
  return [
    ...when(shown.setBackAt !== null, () =>
      need('database_set_back', {
        sentence: 'the database was set back: messages and keys that it had confirmed may be missing',
        cure: 'use a synchronous replica; link an account again if its messages cannot be read',
        since: shown.setBackAt,
      }),
    ),
    ...shown.quarantined.map(quarantined),
    ...differing.map(({ name }) =>
      need('settings_differ', {
        sentence: `the node ${name} has other settings than most nodes, so it treats messages in another way`,
        cure: 'give all nodes the same settings, and restart those that have others',
      }),
    ),
  ]
}

function ofNetwork({ reachability, clientVersion }: NeedDeps): Need[] {
  const { current, isPinned, isRefused } = clientVersion()
  const unpin = 'remove SERVICE_NETWORK_VERSION, or set a newer version'
  return [
    ...reachability.list().map(({ sentence, cure, instances, since }) => {
      const [only] = instances.length === 1 ? instances : []
      const count = only === undefined ? ` (${instances.length} instances)` : ''
      return need('network_unreachable', {
        ...(only !== undefined && { instance: only }),
        sentence: sentence + count,
        cure,
        since,
      })
    }),
    ...when(isRefused, () =>
      need('client_refused', {
        sentence: `WhatsApp refuses the client version ${current}`,
        cure: isPinned
          ? unpin
          : 'the service looks for a newer version by itself; update the service if that does not help',
      }),
    ),
  ]
}

function ofHelpdesks({ held, lostCallbacks, refusals, clocks }: NeedDeps): Need[] {
  return [
    ...held
      .list()
      .map(({ destination, reason, since }) =>
        need('destination_held', { destination, sentence: reason, cure: cureOfHold(reason), since }),
      ),
    ...lostCallbacks
      .list()
      .map(({ destination, reason, advice, since }) =>
        need('callbacks_lost', { destination, sentence: reason, cure: advice, since }),
      ),
    ...refusals
      .list()
      .map(({ instance, sentence, cure, since }) => need('callbacks_refused', { instance, sentence, cure, since })),
    ...clocks
      .list()
      .map(({ instance, sentence, cure, since }) => need('clock_differs', { instance, sentence, cure, since })),
  ]
}

function quarantined(instance: InstanceName): Need {
  return need('quarantined', {
    instance,
    sentence: 'no node opens this instance, because the nodes that held it died again and again',
    cure: 'look at the last lines of the log of these nodes, and restart the instance when the cause is gone',
  })
}

function loggedOut({ name, last_error }: Static<typeof OverviewRow>): Need {
  return need('logged_out', {
    instance: name,
    sentence: last_error ?? 'the account is logged out',
    cure: 'link the account again with a new QR code, or delete the instance',
  })
}

function parked({ name, parked: count }: Static<typeof OverviewRow>): Need {
  return need('parked', {
    instance: name,
    sentence: `${count} received ${count === 1 ? 'message was' : 'messages were'} set aside`,
    cure: 'look at the parked messages of the instance, and try them again or drop them',
  })
}

function banRisk({ name }: Static<typeof OverviewRow>): Need {
  return need('ban_risk', {
    instance: name,
    sentence: 'the account sends in a way that WhatsApp may take for spam',
    cure: 'send less and slower, and to people who know the number; the ban risk of the instance says which limit is crossed',
  })
}

function exhausted({ instance, count, since }: { instance: InstanceName; count: number; since: number }): Need {
  return need('deliveries_exhausted', {
    instance,
    sentence: `${count} lifecycle ${count === 1 ? 'event' : 'events'} of the last day could not be delivered`,
    cure: 'look at the deliveries of the instance, repair the subscriber, and send them again',
    since,
  })
}

function when(holds: boolean, make: () => Need): Need[] {
  return holds ? [make()] : []
}
