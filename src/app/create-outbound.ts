// Puts together the way from the helpdesk to the network: the outbox, its guards and its workers.

import { UndecidedRows } from '../bridge/outbound/accept/undecided-rows.ts'
import { AgentActivity } from '../bridge/outbound/agent-activity.ts'
import { MessageComposer } from '../bridge/outbound/compose/message-composer.ts'
import { createOwnerOf } from '../bridge/conversations/conversation-owner.ts'
import { RowSender } from '../bridge/outbound/send/row-sender.ts'
import type { SendStep } from '../bridge/outbound/send/row-sender.ts'
import { ImmediateSend } from '../bridge/outbound/send/immediate-send.ts'
import { editMessage } from '../bridge/outbound/edit-message.ts'
import type { EditRequest } from '../bridge/outbound/edit-message.ts'
import { FailureReporter } from '../bridge/outbound/queue/failure-reporter.ts'
import { MessageChanges } from '../bridge/outbound/accept/message-changes.ts'
import { MessageAcceptor } from '../bridge/outbound/accept/message-acceptor.ts'
import type { Route } from '../bridge/conversations/route.ts'
import { OutboundMetrics } from '../bridge/outbound/send/outbound-metrics.ts'
import { OutboxWorker } from '../bridge/outbound/queue/outbox-worker.ts'
import { RowOutcomes } from '../bridge/outbound/queue/row-outcomes.ts'
import type { People } from '../bridge/people/people.ts'
import { Recipients } from '../bridge/outbound/send/recipients.ts'
import { Retries } from '../bridge/outbound/accept/retries.ts'
import { SendContexts } from '../bridge/outbound/accept/send-context.ts'
import { createTranscoder } from '../bridge/outbound/compose/voice-note.ts'
import type { Config } from '../config/config.ts'
import type { Destination, Downstream } from '../core/downstream.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle.ts'
import type { NetworkSession } from '../core/network.ts'
import { BanRisk } from '../guard/ban-risk.ts'
import { Pace } from '../guard/pace.ts'
import { Restrictions } from '../guard/restrictions.ts'
import { WebhookHandler } from '../http/webhook/webhook-handler.ts'
import type { Metrics } from '../ledger/metrics.ts'
import type { Usage } from '../ledger/usage.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createRowIds } from '../lib/row-ids.ts'
import { Ticker } from '../lib/ticker.ts'
import type { Database } from '../storage/database.ts'
import { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
import { OutboxTransitions } from '../storage/stores/messages/outbox-transitions.ts'
import { OutboxStore } from '../storage/stores/messages/outbox-store.ts'
import { RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'
import { RetryStore } from '../storage/stores/messages/retry-store.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { SentMessageStore } from '../storage/stores/messages/sent-message-store.ts'
import { SendContextStore } from '../storage/stores/messages/send-context-store.ts'
import type { Routing } from '../tenants/routing.ts'

const drainMs = 5000
const expireMs = 30_000
const reportMs = 10_000
const retryMs = 5000
const banRiskMs = 30_000
const pruneMs = 3_600_000
const day = 24 * 3_600_000
const keepRowsMs = 30 * day
const keepCallbacksMs = 8 * day

/** What sending needs of a linked account. */
export type OutboundAccount = {
  readonly record: Readonly<InstanceRow>
  readonly session: NetworkSession | undefined
  countSpamBlock(): number
  announce(event: LifecycleEvent, extras: EventExtras): void
}

type Deps = {
  config: Pick<Config, 'outbound' | 'sync'>
  database: Database
  epoch: () => number
  people: People
  accounts: { find(name: string): OutboundAccount | undefined }
  routing: Routing
  downstream: Downstream
  metrics: Metrics
  usage: Usage
  onSendStep: (step: SendStep) => Promise<void>
  onOperationsMessage: (instance: string, text: string, destinationKey: string) => Promise<void> | undefined
  clock: Clock
  log: Log
  stack: AsyncDisposableStack
}

export type OutboundSet = ReturnType<typeof createOutbound>

export function createOutbound(deps: Deps) {
  const { config, database, epoch, accounts, clock, log, stack, downstream, routing, onSendStep: onStep } = deps
  const newId = createRowIds(clock)
  const outbox = new OutboxStore(database, epoch)
  const transitions = new OutboxTransitions(database, epoch)
  const sent = new SentMessageStore(database, epoch)
  const store = new SendContextStore(database, clock)
  const map = new MessageMapStore(database)
  let isStopping = false
  const sessionOf = (name: string) => (isStopping ? undefined : accounts.find(name)?.session)
  const isReady = (name: string) => sessionOf(name) !== undefined
  const destinationOf = createDestinations(routing, accounts)
  const recipients = new Recipients({ people: deps.people, sent })
  const banRisk = new BanRisk({ clock })
  const restrictions = new Restrictions({
    store: new RestrictionStore(database, epoch),
    clock,
    askNetwork: async (name) => (await sessionOf(name)?.restrictedUntil()) ?? null,
  })
  const { rateLimit: perMinute, drainRate: drainPerSecond, ...settings } = config.outbound
  const pace = new Pace({ perMinute, drainPerSecond, clock, random: Math.random })
  const ledger = new OutboundMetrics({
    ...deps,
    banRisk,
    announce: (name, event, extras) => accounts.find(name)?.announce(event, extras),
    ownJid: (name) => accounts.find(name)?.record.jid ?? null,
  })
  const transcode = createTranscoder()
  const composer = new MessageComposer({ map, downstream, transcode, ...settings })
  const wake = () => void reports.tick()
  const reporter = new FailureReporter({ outbox, transitions, downstream, destinationOf, clock, log, wake })
  const undecided = new UndecidedRows({ transitions, reporter, clock, log })
  const sender: RowSender = new RowSender({
    transitions,
    sent,
    composer,
    recipients,
    restrictions,
    ledger,
    pace,
    destinationOf,
    takingBack: (destination, messageId) => changes.takingBack(destination, messageId),
    newId,
    clock,
    onStep,
  })
  const worker: OutboxWorker = new OutboxWorker({
    outbox,
    transitions,
    sender,
    outcomes: new RowOutcomes({ outbox, transitions, reporter, ledger, clock }),
    pace,
    sessionOf,
    exists: (name) => accounts.find(name) !== undefined,
    isOpen: (id) => undecided.has(id),
    clock,
    log,
  })
  deps.metrics.watchOutbox(() => worker.counts())
  const { markAsReadOutgoing: markAsRead, typing, presence } = config.sync
  const activity = new AgentActivity({ sent, recipients, sessionOf, markAsRead, typing, presence, clock, log })
  const routeOf = async (name: string): Promise<Route | undefined> => {
    const sender = accounts.find(name)?.record
    return sender && { sender, destination: await routing.destinationOf(sender) }
  }
  const immediate = new ImmediateSend({ composer, recipients, restrictions, sessionOf })
  const ownerOf = createOwnerOf({ store, routeOf })
  const retries = new Retries({
    ...{ outbox, downstream, destinationOf, recipients, ownerOf, reporter, worker, isReady, newId, clock, log },
    store: new RetryStore(database, epoch),
    wake: () => void looks.tick(),
  })
  const changes: MessageChanges = new MessageChanges({
    ...{ outbox, transitions, map, retries, worker, ownerOf, isReady, newId, clock, log },
  })
  const outbound = new MessageAcceptor({
    ...{ undecided, immediate, outbox, worker, reporter, ledger, pace, isReady, onStep, newId, clock, log },
    contexts: new SendContexts({ store, recipients, routeOf }),
    spamguard: settings.spamguard,
    isNearlyReady: (name) => accounts.find(name)?.record.state === 'connected',
    countBlock: (name) => accounts.find(name)?.countSpamBlock() ?? 0,
  })
  const webhook = new WebhookHandler({ ...deps, instances: accounts, outbound, changes, activity, ownerOf })
  const every = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, work, clock, log })
  const reports = every('outbox-report', reportMs, () => reporter.run())
  const looks = every('outbox-retry', retryMs, () => retries.run())
  const workers = [
    every('outbox-drain', drainMs, async () => {
      await undecided.run()
      await worker.drain()
    }),
    every('outbox-expire', expireMs, () => worker.expire()),
    every('ban-risk', banRiskMs, () => {
      ledger.evaluate()
      return Promise.resolve()
    }),
    every('outbox-prune', pruneMs, () => outbox.prune(clock.now() - keepRowsMs, clock.now() - keepCallbacksMs)),
    reports,
    looks,
  ]
  stack.use(reporter)
  stack.use(activity)
  stack.use(changes)
  stack.use(worker)
  stack.use(undecided)
  return {
    outbox,
    banRisk,
    webhook,
    workers,
    /** Every part that keeps memory per instance. */
    perInstance: [worker, activity, banRisk, pace, restrictions, store],
    edit: (request: EditRequest) => editMessage({ map, sent, recipients, ledger, sessionOf, clock, log }, request),
    outboxPending: async () => sum((await outbox.countPending()).values()),
    /** Sorts out what earlier processes left. */
    load: () => worker.load(),
    /** From now on messages are queued for the next process. */
    hold(): void {
      isStopping = true
    },
    connectionChanged: (name: string): void => {
      worker.connectionChanged(name)
      if (isReady(name)) activity.connected(name)
    },
    /** The instance is deleted: what waits fails. */
    async forget(name: string): Promise<void> {
      await worker.forget(name)
      await restrictions.forget(name)
    },
  }
}

/** Where a row's message is, also when its instance is gone: by the route it was accepted with. */
function createDestinations(routing: Routing, accounts: Deps['accounts']) {
  return async (row: {
    instance: string
    owner_tag: string
    inbox_id: number
    destination?: string
  }): Promise<Destination | null> => {
    const record = accounts.find(row.instance)?.record
    const now = record ? await routing.destinationOf(record) : null
    return now && now.key === row.destination
      ? now
      : routing.destinationOf({ ownerTag: row.owner_tag, inboxId: row.inbox_id })
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
