// Creates the rooms of the service and connects them. Each room is created after the rooms that it uses; two relays,
// created first, carry what has to go the other way.

import { NumberLookup } from '../bridge/people/number-lookup.ts'
import type { SendStep } from '../bridge/outbound/send/row-sender.ts'
import type { HandOverStep } from '../instances/hand-over.ts'
import type { InstanceName } from '../core/ids.ts'
import type { HistoryJob } from '../core/jobs/job.ts'
import type { JobRunner } from '../core/jobs/job-runner.ts'
import type { Duties } from '../core/nodes/duties.ts'
import type { Machine } from '../setup/checks/machine.ts'
import { AccountEvents } from './account-events.ts'
import type { Base } from './base.ts'
import { createCalls } from './calls/create-calls.ts'
import { createAccounts } from './create-accounts.ts'
import { createDownstream, createHelpdeskDatabase, createNotices } from './create-helpdesk.ts'
import { createCluster } from './nodes/create-cluster.ts'
import type { Cluster } from './nodes/create-cluster.ts'
import { createNodeView } from './nodes/create-node-view.ts'
import { DutyRelay } from './nodes/duty-relay.ts'
import { onlyNodeDuties } from './nodes/only-node-duties.ts'
import { onlyNode } from './nodes/node-view.ts'
import type { NodeView } from './nodes/node-view.ts'
import { createInbound } from './inbound/create-inbound.ts'
import { createGroupService, createMemberNotes } from './groups/create-groups.ts'
import { createJobRooms } from './jobs/create-job-rooms.ts'
import { createLive, createLiveRecords, createLiveViews, noteMessage } from './live/create-live.ts'
import { createStoredRowsReader } from './live/stored-rows.ts'
import { createLifecycle } from './create-lifecycle.ts'
import { createOutbound } from './outbound/create-outbound.ts'
import { createSetupChecks } from './create-setup-checks.ts'
import { createStorage } from './create-storage.ts'
import { createTraces } from './create-traces.ts'
import { createSync } from './sync/create-sync.ts'
import { createRouting } from './create-tenants.ts'
import { listPerInstance } from './list-per-instance.ts'
import { ReceptionRelay } from './reception-relay.ts'
import { createSettingsOf } from './settings-of.ts'

export type RoomOptions = {
  qrLifetimeMs?: number
  /** Called between the steps of a send, which waits until it resolves. */
  onSendStep?: (step: SendStep) => Promise<void>
  /** Called between the steps of a hand-over to another node, which waits until it resolves. */
  onHandOverStep?: (step: HandOverStep) => Promise<void>
  /** How long an uncertain post is looked for before it is repeated. */
  lateCommitMs?: number
  /** Runs the jobs of the history in place of the importer. */
  importRunner?: JobRunner<HistoryJob>
  /** Where the checks of the set-up look for free space and for ffmpeg. */
  machine?: Machine
  /** Aborted when the process is asked to stop. */
  stopping?: AbortSignal
  /** The file that this process runs. A node starts it again as a cell; without it a node starts none. */
  cellProgram?: string
  /** Called with the URL of the listener for other nodes, before this process is one of them. */
  onNodeUrl?: (url: string) => void
  /** The other processes on the same database. */
  nodes?: NodeView
  /** Which work this process does; all of it when it is left out. */
  duties?: Duties
}

export type Rooms = Awaited<ReturnType<typeof createRooms>>

/** `onFatal` is called with the reason when the service cannot go on. */
export async function createRooms(base: Base, options: RoomOptions, onFatal: (reason: Error) => void) {
  const { config, clock, log, stack } = base
  const duties = options.duties ?? new DutyRelay(() => cluster?.duties ?? onlyNodeDuties(() => instances))
  const reception = new ReceptionRelay()
  const events = new AccountEvents()

  const live = createLive(base)
  const onCounted = (instance: InstanceName) => {
    live.relay.instanceChanged(instance)
  }

  // Before storage, so that the last spans are sent after the lease is given back.
  const traces = await createTraces(base, (count) => {
    metrics.droppedSpans.inc(count)
  })
  const storage = await createStorage(base, {
    ...{ onFatal, stopping: options.stopping, duties, cellProgram: options.cellProgram },
    onCounted: (...counted) => {
      noteMessage(live.relay, records, ...counted)
    },
  })
  const { database, holds, idClock, usage, metrics, node } = storage
  const tellOwner = (instance: InstanceName) => cluster?.tellOwner(instance)
  const isComplete = () => cluster?.isComplete() ?? false
  const nodes = options.nodes ?? (node ? createNodeView(base, { node, database, tellOwner, isComplete }) : onlyNode)
  const records = createLiveRecords(base, { database, holds, idClock })
  const lifecycle = createLifecycle(base, { database, duties, metrics, usage, events, live: live.relay })
  const accounts = createAccounts(base, {
    ...{ database, holds, duties },
    idClock,
    lifecycle: lifecycle.lifecycle,
    reception,
    events,
    onState: (seen) => {
      records.states.changed(seen)
    },
    qrLifetimeMs: options.qrLifetimeMs,
    hasPeers: nodes.hasPeers,
    isCutOff: () => node?.membership.state === 'isolated',
    isTakingOver: () => cluster?.holdings.isTakingOver === true,
  })
  const { instances, roster, network } = accounts
  const settingsOf = createSettingsOf(config, roster)
  const downstream = createDownstream(base, traces)
  const tenants = createRouting(base, { database, holds, downstream })
  const { routing, identities } = tenants
  const notices = createNotices(base, {
    ...{ settingsOf, instances, routing, downstream },
    askOwner: (...asked) => cluster?.askForCode(...asked),
  })
  const calls = createCalls(base, {
    ...{ settingsOf, database, holds, duties, instances, metrics },
    direct: () => outbound.direct,
  })
  const inbound = createInbound({
    config,
    settingsOf,
    clock,
    log,
    database,
    holds,
    duties,
    idClock,
    instances,
    network,
    downstream,
    routing,
    identities,
    metrics,
    usage,
    traces,
    callOutcomeOf: (instance, callId) => calls.rejections.outcomeOf(instance, callId),
    onShown: (...shown) => sync.avatars?.avatars.seen(...shown),
    onCounted,
    onHeldChanged: (destination) => {
      live.relay.destinationChanged(destination)
    },
    lateCommitMs: options.lateCommitMs,
  })
  stack.use(inbound.held)
  stack.use(inbound.inbound)
  const { people } = inbound
  const numbers = new NumberLookup({ sessionOf: (instance) => instances.find(instance)?.session, people, clock })
  const memberNotes = createMemberNotes(base, { settingsOf, instances, people, downstream })
  const outbound = createOutbound({
    config,
    settingsOf,
    clock,
    log,
    stack,
    database,
    holds,
    duties,
    idClock,
    accounts: instances,
    roster,
    people,
    conversations: inbound.conversations,
    choices: inbound.choices,
    lostCallbacks: inbound.lostCallbacks,
    downstream,
    routing,
    identities,
    metrics,
    usage,
    traces,
    onSendStep: options.onSendStep ?? (() => Promise.resolve()),
    onOperationsMessage: (...message) => notices?.onOperationsMessage(...message),
    onInboxRow: (instance, id) => {
      inbound.inbound.acceptIfStored(instance, id)
    },
    activityListener: () => sync.typing.activity,
    hasPeers: nodes.hasPeers,
    tellOwner: nodes.tellOwner,
    onCounted,
    onMembersAsked: (question) => {
      memberNotes.asked(question)
    },
    onLabelled: (labels) => sync.labels.onLabelled(labels),
  })
  const groups = createGroupService(base, {
    ...{ settingsOf, instances, people, directory: inbound.groups, audit: storage.audit, guards: outbound.guards },
  })

  const helpdeskDatabase = createHelpdeskDatabase(base)
  const sync = createSync({
    ...{ config, settingsOf, clock, log, stack, database, holds, duties, instances, metrics, downstream, routing },
    identities,
    traces,
    people,
    groups: inbound.groups,
    conversations: inbound.conversations,
    contexts: inbound.contexts,
    contactNames: inbound.contactNames,
    headerHistory: inbound.headerHistory,
    ownChanges: outbound.ownChanges,
    helpdeskDatabase,
    sessionOf: (instance) => instances.find(instance)?.openSession,
    isBusy: (instance) => inbound.inbound.pendingOf(instance) > 0,
    targetOf: (instance) => inbound.destinations.find(instance),
  })

  const jobRooms = createJobRooms(base, {
    ...{ settingsOf, storage, duties, accounts, inbound, sync, downstream, helpdeskDatabase, live: live.relay },
    ...{ lateCommitMs: options.lateCommitMs, importRunner: options.importRunner },
  })
  const { jobs, history } = jobRooms

  const { lostCallbacks } = inbound
  const { refusals, clocks } = outbound
  const { machine } = options
  const setup = createSetupChecks(base, {
    ...{ settingsOf, instances, roster, network, downstream, routing, metrics, machine },
    ...{ lostCallbacks, refusals, clocks },
  })

  const perInstance = listPerInstance({
    ...{ accounts, calls, history, idClock, inbound, jobs, lifecycle, live: live.relay, metrics, notices, numbers },
    ...{ outbound, records, setup, sync, usage },
  })
  reception.connect({
    calls: calls.rejections,
    messages: inbound.reception,
    realtime: sync.reception,
    history: history.reception,
    labels: sync.labels.reception,
    onReceived: sync.typing.received,
  })
  events.connect({
    perInstance,
    onChange: (instance) => {
      outbound.connectionChanged(instance)
      sync.typing.connectionChanged(instance)
      live.relay.instanceChanged(instance)
    },
    onAnnounced: (announcement) => notices?.heard(announcement),
  })
  const rows = {
    lastMessages: records.lastMessages,
    outboxPending: outbound.pendingOf,
    inboxPending: (instance: InstanceName) => inbound.inbound.pendingOf(instance),
    parked: (instance: InstanceName) => inbound.parked.countOf(instance),
    banRisk: outbound.banRisk,
  }
  live.relay.connect(createLiveViews({ instances, held: inbound.held, rows }))
  const onRoutingChanged = () => {
    inbound.held.releaseAll()
    setup.watch.recheckBroken()
  }
  const onSettings = () => {
    tenants.cache.evictAll()
    tenants.secrets.evictAll()
    onRoutingChanged()
  }
  const cluster: Cluster | null =
    node &&
    createCluster(base, {
      ...{ node, accounts, onSettings },
      isBusy: (instance) =>
        jobs.jobs.isRunning(instance) || outbound.isSendingFile(instance) || inbound.posting.files.isFetching(instance),
      hasWaiting: (instance) => outbound.pendingOf(instance) > 0,
      onHandOverStep: options.onHandOverStep ?? (() => Promise.resolve()),
      onNodeUrl: options.onNodeUrl ?? (() => undefined),
      standIn: outbound.standIn,
      lookForRows: (instance) => outbound.lookAgain(instance),
      showCode: (...asked) => {
        notices?.showCode(...asked)
      },
      metrics: metrics.nodes,
      live: live.hub,
    })
  return {
    nodes,
    cluster,
    onRoutingChanged,
    duties,
    storage,
    live: { ...live, records, rows, readStoredRows: createStoredRowsReader(database, outbound.banRisk) },
    settingsOf,
    lifecycle,
    accounts,
    downstream,
    tenants,
    inbound,
    outbound,
    groups,
    calls,
    numbers,
    sync,
    ...jobRooms,
    setup,
    perInstance,
  }
}
