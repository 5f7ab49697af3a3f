// Creates the parts that send outbox rows: the composer, the sender, the guards and the worker.

import type { OwnChanges } from '../../bridge/conversations/own-changes.ts'
import { DirectComposer } from '../../bridge/outbound/compose/direct-composer.ts'
import { MessageComposer } from '../../bridge/outbound/compose/message-composer.ts'
import { createTranscoder } from '../../bridge/outbound/compose/voice-note.ts'
import { UndecidedRows } from '../../bridge/outbound/accept/undecided-rows.ts'
import { GivenAnswers } from '../../bridge/outbound/queue/given-answers.ts'
import { OutboxWorker } from '../../bridge/outbound/queue/outbox-worker.ts'
import { PlannedLooks } from '../../bridge/outbound/queue/planned-looks.ts'
import { RowAttempts } from '../../bridge/outbound/queue/row-attempts.ts'
import { RowOutcomes } from '../../bridge/outbound/queue/row-outcomes.ts'
import { ShownLook } from '../../bridge/outbound/queue/shown-look.ts'
import { ShownWorker } from '../../bridge/outbound/queue/shown-worker.ts'
import { OutboundMetrics } from '../../bridge/outbound/send/outbound-metrics.ts'
import { Recipients } from '../../bridge/outbound/send/recipients.ts'
import { RevokeContents } from '../../bridge/outbound/send/revoke-contents.ts'
import { RowSender } from '../../bridge/outbound/send/row-sender.ts'
import { SentRecords } from '../../bridge/outbound/send/sent-records.ts'
import { SendPreparation } from '../../bridge/outbound/send/send-preparation.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import { BanRisk } from '../../guard/ban-risk.ts'
import { Pace } from '../../guard/pace.ts'
import { Restrictions } from '../../guard/restrictions.ts'
import { SendLimits } from '../../guard/send-limits.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import { SteadyClock } from '../../lib/steady-clock.ts'
import type { OutboxRow } from '../../storage/stores/messages/outbox-rows.ts'
import type { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import type { DueLook } from '../../storage/stores/messages/shown-store.ts'
import type { OutboundDeps } from './outbound-deps.ts'
import type { OutboundRoutes } from './outbound-routes.ts'
import type { OutboundStores } from './outbound-stores.ts'

type Parts = {
  stores: OutboundStores
  accounts: SendingAccounts
  routes: OutboundRoutes
  newId: () => RowId
  ownChanges: OwnChanges
  /** Calls `ShownWorker.run` in the background. */
  startLooks: () => void
}

export type SendingParts = ReturnType<typeof createSending>

export function createSending(deps: OutboundDeps, parts: Parts) {
  const { config, settingsOf, clock, log, people, metrics, usage, downstream } = deps
  const { stores, accounts } = parts
  const { outbox, transitions, sent, map } = stores
  const transcode = createTranscoder()
  const banRisk = new BanRisk({ clock })
  const limits = createLimits(deps, parts)
  const pace = createPace(deps, limits)
  const restrictions = createRestrictions(deps, parts)
  const recipients = new Recipients({ people, sent })
  const outboundMetrics = new OutboundMetrics({ metrics, usage, banRisk, accounts })
  const composer = new MessageComposer({
    map,
    downstream,
    transcode,
    settingsOf,
    emojiReplyAsReaction: config.outbound.emojiReplyAsReaction,
  })
  const direct = new DirectComposer({ map, downstream, transcode })
  const looks = new PlannedLooks({
    clock,
    wake: () => {
      shownWorker.wake()
    },
  })
  const steadyClock = new SteadyClock(clock)
  const outcomes = new RowOutcomes({ outbox, transitions, looks, metrics: outboundMetrics, clock: steadyClock })
  const undecided = new UndecidedRows({
    ...{ outbox, transitions, looks, clock, log },
    queue: (instance) => worker.lookAgain(instance),
  })
  const guards = { banRisk, pace, restrictions }
  const made = { recipients, composer, direct, outcomes, undecided, steadyClock, metrics: outboundMetrics, ...guards }
  const worker = createWorker(deps, parts, made)
  const given = new GivenAnswers({ store: stores.shown, clock })
  const isUndecided = (id: RowId) => undecided.has(id) || looks.isTooEarly(id)
  const shownWorker = createShownWorker(deps, parts, { worker, given, isUndecided })
  /** Queues the rows that other nodes have stored for an instance of this one, or have confirmed. */
  const lookAgain = async (instance: InstanceName) => {
    await undecided.run(instance)
    await worker.lookAgain(instance)
  }
  return { ...made, limits, looks, worker, lookAgain, given, shownWorker }
}

function createShownWorker(
  { settingsOf, downstream, duties, clock, log }: OutboundDeps,
  { stores, accounts, routes, ownChanges, startLooks }: Parts,
  { worker, given, isUndecided }: { worker: OutboxWorker; given: GivenAnswers; isUndecided: (id: RowId) => boolean },
): ShownWorker {
  const { outbox, shown, retries } = stores
  const helpdeskOf = async (row: OutboxRow) => {
    const destination = await routes.identifiedOf(row)
    return destination && { key: destination.key, helpdesk: downstream.helpdesk(destination) }
  }
  const look = new ShownLook({ outbox, shown, retries, settingsOf, helpdeskOf, worker, accounts, clock, log })
  const isNeedless = ({ destination, messageId, lookAt }: DueLook) =>
    messageId !== null && ownChanges.areAnswered(destination, messageId, lookAt)
  const deciding = { isUndecided, isNeedless }
  return new ShownWorker({ store: shown, answers: given, look, duties, ...deciding, clock, log, start: startLooks })
}

function createLimits({ config, clock }: OutboundDeps, { accounts }: Parts): SendLimits {
  const { rateLimit: perMinute, warmupDays } = config.outbound
  return new SendLimits({ perMinute, warmupDays, recordOf: (instance) => accounts.recordOf(instance), clock })
}

function createPace({ config, clock }: OutboundDeps, limits: SendLimits): Pace {
  return new Pace({ limits, drainPerSecond: config.outbound.drainRate, clock, random: Math.random })
}

function createRestrictions({ clock }: OutboundDeps, { stores, accounts }: Parts): Restrictions {
  return new Restrictions({
    store: stores.restrictions,
    clock,
    askNetwork: async (instance) => (await accounts.sessionOf(instance)?.restriction()) ?? null,
  })
}

type WorkerParts = {
  recipients: Recipients
  composer: MessageComposer
  direct: DirectComposer
  outcomes: RowOutcomes
  undecided: UndecidedRows
  steadyClock: SteadyClock
  metrics: OutboundMetrics
  pace: Pace
  restrictions: Restrictions
}

function createWorker(deps: OutboundDeps, parts: Parts, made: WorkerParts): OutboxWorker {
  const { log, downstream, traces, onSendStep } = deps
  const { stores, accounts, routes } = parts
  const { recipients, composer, direct, outcomes, undecided, steadyClock: clock, metrics, pace, restrictions } = made
  const { outbox, transitions, map } = stores
  const revokes = new RevokeContents({ outbox, map })
  const { destinationOf } = routes
  const composers = { composer, direct, revokes }
  const preparation = new SendPreparation({ ...composers, recipients, restrictions, downstream, destinationOf })
  const records = createRecords(deps, parts)
  const sender = new RowSender({
    ...{ preparation, transitions, records, restrictions, metrics, pace, traces, clock },
    onStep: onSendStep,
  })
  return new OutboxWorker({
    outbox,
    transitions,
    attempts: new RowAttempts({ outbox, transitions, sender, pace, outcomes, accounts, traces, clock, log }),
    outcomes,
    pace,
    accounts,
    isUndecided: (id) => undecided.has(id),
    onCounted: deps.onCounted,
    clock,
    log,
  })
}

function createRecords({ choices, clock, onInboxRow }: OutboundDeps, { stores, accounts, newId }: Parts): SentRecords {
  const { sent, journal } = stores
  const ownJid = (instance: InstanceName) => accounts.ownJid(instance)
  return new SentRecords({ sent: notingOffers(sent, choices), journal, ownJid, newId, clock, onInboxRow })
}

/** Tells the inbound part that a message offers choices, so that it looks for an answer in that chat. */
function notingOffers(
  sent: Pick<SentMessageStore, 'insertStep' | 'withdrawStep'>,
  choices: OutboundDeps['choices'],
): Pick<SentMessageStore, 'insertStep' | 'withdrawStep'> {
  return {
    insertStep(message) {
      if (message.content.choices) choices.offered(message.instance, message.chatId)
      return sent.insertStep(message)
    },
    withdrawStep: (destination, messageId) => sent.withdrawStep(destination, messageId),
  }
}
