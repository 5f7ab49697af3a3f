// Creates what the dashboard hears and remembers: the hub of live events, the history of states, the last messages.

import { cureOfHold } from '../../core/helpdesk/hold-cure.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { UsageCounter } from '../../core/usage.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Peer } from '../../core/nodes/peers.ts'
import type { HeldDestinations } from '../../bridge/inbound/held-destinations.ts'
import { toJobBody } from '../../http/jobs/job-view.ts'
import { toOverviewRow } from '../../http/routes/observe/overview-row.ts'
import type { RowDeps } from '../../http/routes/observe/overview-row.ts'
import { toTimestamp } from '../../http/schemas.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Clock } from '../../lib/clock.ts'
import { listenToWarnings } from '../../lib/log.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import { LastMessages } from '../../live/last-messages.ts'
import { LiveHub } from '../../live/live-hub.ts'
import { LiveRelay } from '../../live/live-relay.ts'
import type { LiveViews } from '../../live/live-relay.ts'
import type { OpenStream } from '../../live/node-stream.ts'
import { OtherNodes } from '../../live/other-nodes.ts'
import { StateHistory } from '../../live/state-history.ts'
import type { PeerClient } from '../../nodes/peer-client.ts'
import type { Database } from '../../storage/database.ts'
import { LastMessageStore } from '../../storage/stores/live/last-message-store.ts'
import { StateChangeStore } from '../../storage/stores/live/state-change-store.ts'
import type { Base } from '../base.ts'

const statesMs = 5000
const timesMs = 60_000
const sweepMs = 3_600_000
const maxListeners = 32

const directionOf: Partial<Record<UsageCounter, 'in' | 'out'>> = { messages_in: 'in', messages_out: 'out' }

/** Created first: every other part may tell it that something changed. */
export function createLive({ build, config, clock, log, stack }: Base) {
  const hub = new LiveHub({
    version: build.version,
    // A stream keeps its connection. Most connections must be left to callbacks and requests.
    maxListeners: Math.min(maxListeners, Math.floor(config.http.maxConnections / 4)),
    ...{ clock, log },
  })
  stack.defer(() => {
    hub.close()
  })
  const relay = new LiveRelay(hub)
  stack.defer(
    listenToWarnings(log, (warning) => {
      relay.warned(warning)
    }),
  )
  return { hub, relay }
}

type NodeParts = {
  peers: Pick<PeerClient, 'events'>
  /** Every other living node, also one that drains. */
  peersNow: () => readonly Peer[]
  /** The epoch under which this node holds the instance; undefined when it does not. */
  epochOf: (instance: InstanceName) => number | undefined
}

/** From now on listeners of this node hear what happens at other nodes too. */
export function hearOtherNodes(
  { clock, log }: Pick<Base, 'clock' | 'log'>,
  hub: LiveHub,
  { peers, peersNow, epochOf }: NodeParts,
): void {
  const open: OpenStream = (peer, signal) => peers.events(peer, signal)
  hub.connect(new OtherNodes({ peersNow, open, epochOf, hub, clock, log }))
}

type Stored = { database: Database; holds: Holds; idClock: Pick<Clock, 'now'> }

export type LiveRecords = ReturnType<typeof createLiveRecords>

export function createLiveRecords({ clock, log, stack }: Base, { database, holds, idClock }: Stored) {
  const newId = createRowIds(idClock)
  const states = new StateHistory({ store: new StateChangeStore(database, holds.nodeHold), newId, clock })
  const lastMessages = new LastMessages({ store: new LastMessageStore(database, holds.nodeHold), clock })
  const every = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, work, clock, log })
  stack.defer(async () => {
    await Promise.all([states.flush(), lastMessages.flush()]).catch((err: unknown) => {
      log.warn({ err }, 'the last states and message times were not stored')
    })
  })
  return {
    states,
    lastMessages,
    workers: [
      every('state-history', statesMs, () => states.flush()),
      every('last-messages', timesMs, () => lastMessages.flush()),
      new Ticker({
        ...{ name: 'state-history-sweep', everyMs: sweepMs, firstMs: firstSweepMs, clock, log },
        work: () => states.prune(),
      }),
    ],
  }
}

/** Usage counts every message in both directions, once. */
export function noteMessage(
  relay: LiveRelay,
  records: LiveRecords,
  instance: InstanceName,
  counter: UsageCounter,
): void {
  const direction = directionOf[counter]
  if (!direction) return
  records.lastMessages.note(instance, direction)
  relay.instanceChanged(instance)
}

type ViewParts = {
  instances: Pick<InstanceRegistry, 'find'>
  held: Pick<HeldDestinations, 'list'>
  rows: RowDeps
}

export function createLiveViews({ instances, held, rows }: ViewParts): LiveViews {
  return {
    instance: (name) => {
      const account = instances.find(name)
      return account && toOverviewRow(rows, account)
    },
    qr: (name) => {
      const qr = instances.find(name)?.qr
      if (!qr) return null
      const expires_at = toTimestamp(qr.generatedAt + qr.lifetimeMs)
      return { madeAt: qr.generatedAt, view: { name, available: true, expires_at } }
    },
    destination: (destination) => {
      const found = held.list().find((each) => each.destination === destination)
      const { reason = '', since = 0 } = found ?? {}
      return { destination, held: found ? { reason, since: toTimestamp(since), cure: cureOfHold(reason) } : null }
    },
    job: (job) => {
      const body = toJobBody(job)
      return { ...body, result: undefined }
    },
  }
}
