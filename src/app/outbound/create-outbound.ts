// Creates the path from the helpdesk to the network: the outbox, its guards and its workers.

import { OwnChanges } from '../../bridge/conversations/own-changes.ts'
import { rowShownSent } from '../../bridge/outbound/accept/send-answer.ts'
import { editMessage } from '../../bridge/outbound/edit-message.ts'
import type { EditRequest } from '../../bridge/outbound/edit-message.ts'
import { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import type { InstanceName } from '../../core/ids.ts'
import { heldRows } from '../../core/nodes/duties.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { RecentSends } from '../../guard/recent-sends.ts'
import type { WebhookAnswer } from '../../http/webhook/webhook-reply.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { runAll } from '../../lib/run-all.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import { createAccepting } from './create-accepting.ts'
import { createSending } from './create-sending.ts'
import type { OutboundDeps } from './outbound-deps.ts'
import { createOutboundRoutes } from './outbound-routes.ts'
import { createOutboundStores } from './outbound-stores.ts'

export type { OutboundAccount } from '../../bridge/outbound/send/sending-accounts.ts'

const drainMs = 5000
const expireMs = 30_000
const lookMs = 5000
const answersMs = 1000
const banRiskMs = 30_000
const pruneMs = 3_600_000
const day = 24 * 3_600_000
const keepRowsMs = 30 * day
const keepCallbacksMs = 8 * day

export type OutboundSet = ReturnType<typeof createOutbound>

export function createOutbound(deps: OutboundDeps) {
  const { parts, workers } = createParts(deps)
  const { accounts, stores, sending, accepting, ownChanges } = parts
  const { worker, restrictions, banRisk, pace } = sending
  const { activity, acceptor, clocks, refusals } = accepting
  deps.people.onMerged((instance, ids) => {
    void worker.merged(instance, ids, () => acceptor.merged(instance, ids))
  })
  const memory: PerInstance[] = [
    ...[acceptor, activity, banRisk, clocks, refusals, pace, restrictions, stores.contexts],
    ...[sending.undecided, createRecentSends(deps, parts)],
  ]
  return {
    outbox: stores.outbox,
    banRisk,
    limits: sending.limits,
    /** What holds for an invitation to a group. */
    guards: { recipients: sending.recipients, restrictions, pace, metrics: sending.metrics },
    sent: stores.sent,
    webhook: accepting.webhook,
    /** For callbacks whose owner does not answer. */
    standIn: accepting.standIn,
    /** Messages that programs send. */
    direct: accepting.direct,
    clocks,
    refusals,
    /** The answer to a callback has left this process. */
    answered: (answer: WebhookAnswer): void => {
      const id = rowShownSent(answer)
      if (id !== undefined) sending.given.note(id)
      if (answer.kind === 'followed' && answer.changed) {
        ownChanges.answered(answer.changed.destination, answer.changed.messageId)
      }
    },
    ownChanges,
    workers,
    /** Every part that keeps memory per instance. The worker is first: it ends the work that uses the others. */
    perInstance: [worker, ...memory] as const,
    edit: (request: EditRequest) => edit(deps, parts, request),
    /** Health asks often, so the count comes from memory. */
    outboxPending: () => worker.counts().pending,
    pendingOf: (instance: InstanceName) => worker.countOf(instance),
    isSendingFile: (instance: InstanceName) => worker.isSendingFile(instance),
    /** From now on messages are queued for the next process. */
    pause(): void {
      accounts.pause()
    },
    connectionChanged: (instance: InstanceName): void => {
      worker.connectionChanged(instance)
      if (accounts.isReady(instance)) activity.connected(instance)
    },
    /** Other nodes may have stored messages for the instance. */
    lookAgain: (instance: InstanceName) => sending.lookAgain(instance),
    /** The instance is deleted: its rows fail. Rejects with a `NotHeldError` when this node may not write them. */
    async forget(instance: InstanceName): Promise<void> {
      activity.leave(instance)
      await runAll([
        () => worker.forget(instance),
        // After the rows have failed: those failures must not count for a new instance of the same name.
        () => {
          banRisk.leave(instance)
        },
        () => {
          pace.leave(instance)
        },
        () => {
          stores.contexts.leave(instance)
        },
        () => {
          acceptor.leave(instance)
        },
        () => {
          restrictions.leave(instance)
        },
      ])
    },
  }
}

type Parts = ReturnType<typeof createParts>['parts']

function createRecentSends({ clock }: OutboundDeps, { stores, sending, accounts }: Parts): RecentSends {
  const { pace, banRisk } = sending
  const linkedSince = (name: InstanceName) => {
    const record = accounts.recordOf(name)
    return record?.linkedAt ?? record?.createdAt ?? 0
  }
  const ownJid = (name: InstanceName) => accounts.ownJid(name)
  return new RecentSends({ store: stores.recentSends, pace, banRisk, ownJid, linkedSince, clock })
}

function createParts(deps: OutboundDeps) {
  const { database, holds, duties, clock, log, stack, metrics } = deps
  const every = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, work, clock, log })
  const newId = createRowIds(deps.idClock ?? clock)
  const stores = createOutboundStores(database, holds, duties, clock)
  const accounts = new SendingAccounts(deps.accounts, deps.roster)
  const routes = createOutboundRoutes(deps.routing, accounts, deps.identities)
  const ownChanges = new OwnChanges({ clock })
  const startLooks = () => void looks.tick()
  const sending = createSending(deps, { stores, accounts, routes, newId, ownChanges, startLooks })
  const accepting = createAccepting(deps, { stores, accounts, routes, sending, newId })
  const { worker, undecided, shownWorker, given } = sending
  const looks = every('outbox-shown', lookMs, () => shownWorker.run())
  const workers = [
    every('outbox-drain', drainMs, async () => {
      await undecided.run()
      await worker.drain(heldRows(duties))
      if (duties.isFirst()) await worker.failRowsOfDeletedInstances(duties.held() === 'all')
    }),
    every('outbox-expire', expireMs, () => worker.expire(heldRows(duties))),
    every('ban-risk', banRiskMs, () => {
      const watched = sending.banRisk.instances()
      sending.metrics.evaluate()
      // The level falls by itself when time passes.
      for (const instance of watched) deps.onCounted?.(instance)
      return Promise.resolve()
    }),
    new Ticker({
      name: 'outbox-prune',
      everyMs: pruneMs,
      firstMs: firstSweepMs,
      work: async () => {
        await stores.outbox.prune(clock.now() - keepRowsMs, clock.now() - keepCallbacksMs)
        await stores.requests.prune(clock.now())
      },
      clock,
      log,
    }),
    looks,
    every('outbox-answers', answersMs, () => given.flush()),
  ]
  metrics.gauges.watchOutbox(() => worker.counts())
  const { activity, changes, order } = accepting
  for (const part of [sending.looks, activity, changes, order, worker, undecided, shownWorker]) stack.use(part)
  return { parts: { accounts, stores, sending, accepting, ownChanges }, workers }
}

function edit({ clock, log }: OutboundDeps, { stores, sending, accounts }: Parts, request: EditRequest): Promise<void> {
  const { map, sent } = stores
  const { recipients, metrics } = sending
  return editMessage({ map, sent, recipients, metrics, accounts, clock, log }, request)
}
