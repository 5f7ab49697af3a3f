// Creates the parts that follow the callbacks of the helpdesk: new messages, changed messages and what agents do.

import { AnswerInTime } from '../../bridge/outbound/accept/answer-in-time.ts'
import { AnswerRoutes } from '../../bridge/outbound/accept/answer-routes.ts'
import { CallbackAges } from '../../bridge/outbound/accept/callback-ages.ts'
import { CallbackOrder } from '../../bridge/outbound/accept/callback-order.ts'
import { FirstCallbacks } from '../../bridge/outbound/accept/first-callbacks.ts'
import { MessageAcceptor } from '../../bridge/outbound/accept/message-acceptor.ts'
import type { OtherNodes } from '../../bridge/outbound/accept/message-acceptor.ts'
import { MessageChanges } from '../../bridge/outbound/accept/message-changes.ts'
import { MessageRows } from '../../bridge/outbound/accept/message-rows.ts'
import { MessageDeletions } from '../../bridge/outbound/accept/message-deletions.ts'
import { MessageStorage } from '../../bridge/outbound/accept/message-storage.ts'
import { MissingCallbacks } from '../../bridge/outbound/accept/missing-callbacks.ts'
import { NewRows } from '../../bridge/outbound/accept/new-rows.ts'
import { RetryRequests } from '../../bridge/outbound/accept/retry-requests.ts'
import { SendContexts } from '../../bridge/outbound/accept/send-context.ts'
import { SendGuards } from '../../bridge/outbound/accept/send-guards.ts'
import { AgentActivity } from '../../bridge/outbound/agent-activity.ts'
import { ConversationEvents } from '../../bridge/outbound/conversation-events.ts'
import { DirectMessages } from '../../bridge/outbound/direct/direct-messages.ts'
import { DirectRows } from '../../bridge/outbound/direct/direct-rows.ts'
import { RequestAnswers } from '../../bridge/outbound/direct/request-answers.ts'
import { ImmediateSend } from '../../bridge/outbound/send/immediate-send.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import { Fingerprints } from '../../guard/fingerprints.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import type { Routing } from '../../tenants/routing.ts'
import { CallbackAdmission } from '../../http/webhook/callback-admission.ts'
import { CallbackRefusals } from '../../http/webhook/callback-refusals.ts'
import { refusalReasons } from '../../http/webhook/refusal-sentences.ts'
import type { RefusalReason } from '../../http/webhook/refusal-sentences.ts'
import { ClockDifferences } from '../../http/webhook/clock-differences.ts'
import { WebhookHandler } from '../../http/webhook/webhook-handler.ts'
import { ChatLanes } from '../../lib/queues/chat-lanes.ts'
import { createStandIn } from './create-stand-in.ts'
import type { OutboundDeps } from './outbound-deps.ts'
import type { SendingParts } from './create-sending.ts'
import type { OutboundRoutes } from './outbound-routes.ts'
import type { OutboundStores } from './outbound-stores.ts'

type Parts = {
  stores: OutboundStores
  accounts: SendingAccounts
  routes: OutboundRoutes
  sending: SendingParts
  newId: () => RowId
}

export function createAccepting(deps: OutboundDeps, parts: Parts) {
  const { config, clock, log, conversations, lostCallbacks, onOperationsMessage, onMembersAsked, onLabelled } = deps
  const { recipients } = parts.sending
  const answers = new AnswerRoutes({ store: parts.stores.contexts, recipients, routeOf: parts.routes.routeOf })
  const firstCallbacks = new FirstCallbacks({ store: parts.stores.firstCallbacks, clock, log })
  const order = createOrder(deps, parts)
  const fingerprints = new Fingerprints(config.storage.encryptionKeys)
  const rows = new MessageRows({ fingerprints, newId: parts.newId, clock })
  const common = createCommon(deps, parts, { fingerprints, rows })
  const count = refusalCounter(deps)
  const routing = notedBy(firstCallbacks, deps.routing)
  const localeOf = (instance: InstanceName) => deps.settingsOf(instance).locale
  const ages = new CallbackAges({ maxAgeMs: config.outbound.callbackMaxAge, clock })
  const shared = { fingerprints, rows, newRows: common.rows, firstCallbacks, ages, routing, localeOf, count }
  const elsewhere = createStandIn(deps, parts, shared)
  const others = createOthers(deps, parts, elsewhere.acceptor)
  const acceptor = createAcceptor(parts, { ...common, order, others })
  const direct = createDirect(deps, parts, { ...common, others })
  const changes = createChanges(deps, parts, { answers, firstCallbacks, rows, elsewhere: elsewhere.changes })
  const activity = createActivity(deps, parts)
  const clocks = new ClockDifferences({ clock, log })
  const refusals = new CallbackRefusals({ count, clock, log })
  const webhook = new WebhookHandler({
    admission: new CallbackAdmission({ instances: known(deps), routing, clocks, refusals, clock, localeOf }),
    outbound: acceptor,
    changes,
    events: new ConversationEvents({
      ...{ activity, conversations, answers, lostCallbacks, onMembersAsked, onLabelled, clock, log },
    }),
    ages,
    onOperationsMessage,
    traces: deps.traces,
    clock,
    log,
  })
  return { webhook, standIn: elsewhere.standIn, clocks, refusals, acceptor, direct, changes, activity, order }
}

function refusalCounter({ metrics }: OutboundDeps): (reason: RefusalReason) => void {
  // Prometheus sees an increase only from a value that it has seen before.
  for (const reason of refusalReasons) metrics.callbacksRefused.inc({ reason }, 0)
  return (reason) => {
    metrics.callbacksRefused.inc({ reason })
  }
}

/** Without other nodes this node holds every instance, and a look for their rows would cost each message a read. */
function createOthers(
  { hasPeers }: OutboundDeps,
  { accounts, stores, sending: { worker, lookAgain } }: Parts,
  elsewhere: Pick<MessageAcceptor, 'send'>,
): OtherNodes {
  return {
    acceptorFor: (instance) => (hasPeers() && !accounts.isHere(instance) ? elsewhere : undefined),
    acceptor: elsewhere,
    catchUp: (instance) => (hasPeers() ? lookAgain(instance) : Promise.resolve()),
    noneStored: (instance, chat) =>
      hasPeers() && worker.isFree(instance, chat) ? stores.noneLive({ instance, chat }) : undefined,
  }
}

/** A process that runs alone must not refuse callbacks of an instance that it has not taken yet. */
function known({ roster }: OutboundDeps) {
  return { find: (name: InstanceName) => roster.find(name) ?? roster.freshen().then(() => roster.find(name)) }
}

/** The webhook asks for the destination of every callback whose signature is right. */
function notedBy(
  firstCallbacks: FirstCallbacks,
  routing: OutboundDeps['routing'],
): Pick<Routing, 'destinationOf' | 'configuredSecretsOf' | 'webhookSecretsOf'> {
  return {
    configuredSecretsOf: (sender) => routing.configuredSecretsOf(sender),
    webhookSecretsOf: (sender) => routing.webhookSecretsOf(sender),
    destinationOf: async (sender) => {
      const destination = await routing.destinationOf(sender)
      if (destination) firstCallbacks.note(destination)
      return destination
    },
  }
}

function createOrder({ downstream, clock, log }: OutboundDeps, { stores, sending }: Parts): CallbackOrder {
  const missing = new MissingCallbacks({ downstream, store: stores.contexts, clock })
  return new CallbackOrder({ missing, metrics: sending.metrics, clock, log })
}

type Common = ReturnType<typeof createCommon>

/** What accepts messages of agents and direct messages alike. */
function createCommon(
  { config, clock, log, traces, onSendStep: onStep }: OutboundDeps,
  { stores, accounts, sending, newId }: Parts,
  { fingerprints, rows }: { fingerprints: Fingerprints; rows: MessageRows },
) {
  const { outcomes, undecided, worker, looks, pace, metrics, steadyClock } = sending
  const { outbox } = stores
  const { spamguard, callbackMaxAge: maxAgeMs } = config.outbound
  return {
    fingerprints,
    guards: new SendGuards({ outbox, undecided, looks, metrics, accounts, spamguard, maxAgeMs, fingerprints, rows }),
    storage: new MessageStorage({ outbox, undecided, worker, looks, pace, fingerprints, onStep, newId, traces }),
    answers: new AnswerInTime({ outbox, outcomes, accounts, clock, log }),
    rows: new NewRows({ accounts, pace, rows, clock: steadyClock }),
    lanes: new ChatLanes(),
  }
}

function createAcceptor(
  { stores, accounts, routes, sending }: Parts,
  { guards, storage, answers, rows, lanes, order, others }: Common & { order: CallbackOrder; others: OtherNodes },
): MessageAcceptor {
  const { composer, recipients, restrictions } = sending
  const contexts = new SendContexts({ store: stores.contexts, recipients, routeOf: routes.routeOf })
  const immediate = new ImmediateSend({ composer, recipients, restrictions, accounts })
  return new MessageAcceptor({ guards, order, contexts, immediate, storage, answers, rows, others, lanes })
}

function createDirect(
  { clock }: OutboundDeps,
  { stores, accounts, routes, sending, newId }: Parts,
  { fingerprints, rows, ...common }: Common & { others: OtherNodes },
): DirectMessages {
  const { outbox, requests, map } = stores
  const { recipients, undecided } = sending
  return new DirectMessages({
    ...{ ...common, map, recipients, routeOf: routes.routeOf },
    isLinked: (instance) => accounts.ownJid(instance) !== null,
    requests: new RequestAnswers({ requests, outbox, undecided, fingerprints, clock }),
    rows: new DirectRows({ fingerprints, rows, newId, clock }),
  })
}

type ChangeParts = {
  answers: AnswerRoutes
  firstCallbacks: FirstCallbacks
  rows: MessageRows
  /** For instances that another node holds. */
  elsewhere: MessageChanges
}

function createChanges(
  { clock, log, lostCallbacks }: OutboundDeps,
  { stores, accounts, sending, newId }: Parts,
  { answers, firstCallbacks, rows, elsewhere }: ChangeParts,
): MessageChanges {
  const { outbox, transitions, map, shown, retries } = stores
  const { undecided, worker, shownWorker } = sending
  const found = { outbox, transitions, retries, map }
  const deletions = new MessageDeletions({ ...found, undecided, worker, accounts, newId, clock })
  const wake = () => {
    shownWorker.wake()
  }
  const requests = new RetryRequests({
    outbox,
    shown,
    retries,
    answers,
    firstCallbacks,
    rows,
    clock,
    wake,
  })
  const changes = new MessageChanges({ requests, deletions, elsewhere, clock, log })
  lostCallbacks.onFailedMessage((destination, message_id) => {
    changes.noteShownFailure(destination, message_id).catch((err: unknown) => {
      log.warn({ err, message_id }, 'a message that is shown as failed could not be looked at yet')
    })
  })
  return changes
}

function createActivity(
  { config, activityListener: listener, clock, log }: OutboundDeps,
  { stores, accounts, sending }: Parts,
): AgentActivity {
  const { markAsReadOutgoing: markAsRead, typing, presence } = config.sync
  const { recipients } = sending
  const { sent } = stores
  return new AgentActivity({ sent, recipients, accounts, markAsRead, typing, presence, listener, clock, log })
}
