// The JSON of GET /api/health.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { nodeStates } from '../../core/nodes/node.ts'
import type { NodeState } from '../../core/nodes/node.ts'
import type { ListedNode } from '../../core/nodes/cluster-view.ts'
import type { InstanceName } from '../../core/ids.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'

/** The nodes that share the database, and the instances that no node opens because they end their nodes. */
export type NodesShown = {
  nodes: Pick<ListedNode, 'id' | 'name' | 'state' | 'held' | 'build' | 'settingsDiffer'>[]
  quarantined: InstanceName[]
  /** When the database was found to lack what it had confirmed; null when that did not happen lately. */
  setBackAt: number | null
}

const HealthNode = Type.Object(
  {
    id: Type.String({ description: 'Random; a process gets a new one with every start' }),
    name: Type.String({ description: 'Its host and process' }),
    state: Type.Unsafe<NodeState>({ type: 'string', enum: [...nodeStates] }),
    held: Type.Integer({ description: 'How many instances it holds' }),
    build: Type.String(),
    settings_differ: Type.Boolean({ description: 'True when its settings are not those of most nodes of its build' }),
  },
  { title: 'Node' },
)

export const Health = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    version: Type.String(),
    ts: Timestamp,
    uptime_seconds: Type.Integer(),
    checks: Type.Object({
      db: Type.Object({
        ok: Type.Boolean(),
        latency_ms: Type.Integer({ description: 'How long the last question to the database took' }),
        age_ms: Type.Integer({ description: 'How long ago the database answered last' }),
      }),
      instances_connected: Type.Integer(),
      instances_total: Type.Integer(),
      outbox_pending: Type.Integer(),
      inbox_pending: Type.Integer({ description: 'Received messages that the helpdesk does not have yet' }),
      inbox_parked: Type.Integer({ description: 'Received messages that were set aside' }),
      destinations_held: Type.Array(
        Type.Object({ destination: Type.String(), reason: Type.String(), since: Timestamp }),
        { description: 'Helpdesks that take nothing at the moment; messages for them wait' },
      ),
      callbacks_lost: Type.Array(
        Type.Object({ destination: Type.String(), reason: Type.String(), advice: Type.String(), since: Timestamp }),
        { description: 'Helpdesks that cannot deliver their callbacks to us; answers of agents there are not sent' },
      ),
      clocks_differ: Type.Array(
        Type.Object({
          instance: Type.String(),
          helpdesk_ahead_seconds: Type.Integer(),
          cure: Type.String({ description: 'What an operator can do' }),
          since: Timestamp,
        }),
        { description: 'Instances whose callbacks are refused because the clock of the helpdesk differs from ours' },
      ),
      callbacks_refused: Type.Array(
        Type.Object({
          instance: Type.String({ description: 'The name in the address that the helpdesk called' }),
          reason: Type.String({
            description: 'not_signed, wrong_signature, unknown_instance, other_inbox or unreadable',
          }),
          sentence: Type.String(),
          cure: Type.String({ description: 'What an operator can do' }),
          count: Type.Integer(),
          since: Timestamp,
        }),
        { description: 'Callbacks that are refused; answers of agents there are not sent' },
      ),
      network_unreachable: Type.Array(
        Type.Object({
          reason: Type.String({
            description: 'dns, refused, no_route, timeout, proxy, tls, not_genuine, other_server, away or broken',
          }),
          sentence: Type.String(),
          cure: Type.String({ description: 'What an operator can do' }),
          instances: Type.Array(Type.String()),
          since: Timestamp,
        }),
        { description: 'Why linked accounts cannot reach WhatsApp' },
      ),
      pending_logouts: Type.Integer({
        description: 'Logouts that WhatsApp has not confirmed yet',
      }),
      deliveries_exhausted: Type.Integer({
        description:
          'Lifecycle events of the last day that no attempt could deliver: see the deliveries of the instances',
      }),
      setup: Type.Array(
        Type.Object({
          destination: nullable(Type.String({ description: 'The helpdesk inbox; null for the service itself' })),
          name: Type.String({ description: 'The name of the check' }),
          sentence: Type.String(),
          cure: Type.String(),
          since: Timestamp,
        }),
        { description: 'Checks of the set-up that fail: see GET /api/instances/:name/check' },
      ),
      network_version: Type.Object(
        {
          current: Type.String(),
          worked: nullable(Type.String({ description: 'The last version that logged an account in' })),
          pinned: Type.Boolean({ description: 'SERVICE_NETWORK_VERSION sets the version' }),
          refused: Type.Boolean({ description: 'WhatsApp refused the current version when it was last used' }),
          asked_at: nullable(Timestamp),
        },
        { description: 'The client version that the service introduces itself with to WhatsApp' },
      ),
      workers_failed: Type.Array(Type.String(), { description: 'Background workers whose last run failed' }),
      ownership: Type.String({
        description: 'held, or why this process does not act: starting, standby, uncertain, lost',
      }),
      quarantined: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'Only with several nodes: instances that no node opens, because their nodes died again and again. ' +
            'POST /api/instances/:name/restart opens one again',
        }),
      ),
      database_set_back_at: Type.Optional(
        nullable({
          ...Timestamp,
          description:
            'Only with several nodes: when, in the last day, the database lacked what it had confirmed. ' +
            'A replica that had not everything took over, so messages and keys may be missing',
        }),
      ),
    }),
    instances: Type.Array(Type.Object({ name: Type.String(), state: Type.String(), jid: nullable(Type.String()) })),
    nodes: Type.Optional(Type.Array(HealthNode, { description: 'Only with several nodes' })),
    reduced: Type.Optional(
      Type.Boolean({
        description: 'True when names are left out: SERVICE_HEALTH_DETAILS is token, and the caller has no token',
      }),
    ),
  },
  { title: 'Health' },
)

/** The fields that only a service with several nodes has. */
export function toNodeFields({ nodes, quarantined, setBackAt }: NodesShown) {
  return {
    checks: { quarantined, database_set_back_at: setBackAt === null ? null : toTimestamp(setBackAt) },
    nodes: nodes.map(({ id, name, state, held, build, settingsDiffer }) => {
      return { id, name, state, held, build, settings_differ: settingsDiffer }
    }),
  }
}

/** For callers without the token: every list that names instances, helpdesks or addresses is empty. */
export function withoutNames({ checks, nodes, ...rest }: Static<typeof Health>): Static<typeof Health> {
  const named = {
    destinations_held: [],
    callbacks_lost: [],
    clocks_differ: [],
    callbacks_refused: [],
    network_unreachable: [],
    setup: [],
    ...(checks.quarantined && { quarantined: [] }),
  }
  return { ...rest, checks: { ...checks, ...named }, instances: [], ...(nodes && { nodes: [] }), reduced: true }
}
