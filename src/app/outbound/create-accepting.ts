// Creates the parts that follow the callbacks of the helpdesk: new messages, changed messages and what agents do.

import { AnswerInTime } from '../../bridge/outbound/accept/answer-in-time.ts'
import { AnswerRoutes } from '../../bridge/outbound/accept/answer-routes.ts'
import { CallbackAges } from '../../bridge/outbound/accept/callback-ages.ts'
import { CallbackOrder } from '../../bridge/outbound/accept/callback-order.ts'
import { MessageAcceptor } from '../../bridge/outbound/accept/message-acceptor.ts'
import { MessageChanges } from '../../bridge/outbound/accept/message-changes.ts'
import { MessageDeletions } from '../../bridge/outbound/accept/message-deletions.ts'
import { MessageStorage } from '../../bridge/outbound/accept/message-storage.ts'
import { MissingCallbacks } from '../../bridge/outbound/accept/missing-callbacks.ts'
import { NewRows } from '../../bridge/outbound/accept/new-rows.ts'
import { Retries } from '../../bridge/outbound/accept/retries.ts'
import { RetryRequests } from '../../bridge/outbound/accept/retry-requests.ts'
import { SendContexts } from '../../bridge/outbound/accept/send-context.ts'
import { SendGuards } from '../../bridge/outbound/accept/send-guards.ts'
import { AgentActivity } from '../../bridge/outbound/agent-activity.ts'
import { ImmediateSend } from '../../bridge/outbound/send/immediate-send.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import type { RowId } from '../../core/ids.ts'
import { ConversationEvents } from '../../http/webhook/conversation-events.ts'
import { WebhookHandler } from '../../http/webhook/webhook-handler.ts'
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
  /** Starts the retries that are due, in the background. */
  wakeRetries: () => void
}

export function createAccepting(deps: OutboundDeps, parts: Parts) {
  const { config, clock, log, routing, conversations, lostCallbacks, onOperationsMessage } = deps
  const { recipients } = parts.sending
  const answers = new AnswerRoutes({ store: parts.stores.contexts, recipients, routeOf: parts.routes.routeOf })
  const order = createOrder(deps, parts)
  const acceptor = createAcceptor(deps, parts, order)
  const changes = createChanges(deps, parts, answers)
  const activity = createActivity(deps, parts)
  const webhook = new WebhookHandler({
    instances: deps.accounts,
    routing,
    outbound: acceptor,
    changes,
    events: new ConversationEvents({ activity, conversations, answers, lostCallbacks, clock, log }),
    ages: new CallbackAges({ maxAgeMs: config.outbound.callbackMaxAge, clock }),
    onOperationsMessage,
    clock,
    log,
  })
  return { webhook, acceptor, changes, activity, order, retries: createRetries(deps, parts) }
}

function createOrder({ downstream, clock, log }: OutboundDeps, { stores, sending }: Parts): CallbackOrder {
  const missing = new MissingCallbacks({ downstream, store: stores.contexts, clock })
  return new CallbackOrder({ missing, metrics: sending.metrics, clock, log })
}

function createAcceptor(deps: OutboundDeps, parts: Parts, order: CallbackOrder): MessageAcceptor {
  const { stores, accounts, routes, sending, newId } = parts
  const { config, clock, log, onSendStep } = deps
  const { composer, recipients, restrictions, outcomes, undecided, worker, reporter, pace, metrics } = sending
  const { outbox } = stores
  const { spamguard, callbackMaxAge: maxAgeMs } = config.outbound
  return new MessageAcceptor({
    guards: new SendGuards({ outbox, reporter, metrics, accounts, spamguard, maxAgeMs, clock }),
    order,
    contexts: new SendContexts({ store: stores.contexts, recipients, routeOf: routes.routeOf }),
    immediate: new ImmediateSend({ composer, recipients, restrictions, accounts }),
    storage: new MessageStorage({
      outbox,
      undecided,
      worker,
      reporter,
      pace,
      onStep: onSendStep,
      newId,
      clock,
    }),
    answers: new AnswerInTime({ outbox, outcomes, accounts, clock, log }),
    rows: new NewRows({ accounts, pace, newId, clock }),
  })
}

function createChanges({ clock, log }: OutboundDeps, parts: Parts, answers: AnswerRoutes): MessageChanges {
  const { stores, accounts, sending, newId, wakeRetries } = parts
  const { outbox, transitions, map } = stores
  const { worker } = sending
  const deletions = new MessageDeletions({ outbox, transitions, map, worker, accounts, newId, clock })
  const requests = new RetryRequests({
    outbox,
    store: stores.retries,
    answers,
    newId,
    clock,
    wake: wakeRetries,
  })
  return new MessageChanges({ requests, deletions, clock, log })
}

function createRetries(
  { downstream, clock, log }: OutboundDeps,
  { stores, accounts, routes, sending }: Parts,
): Retries {
  const { identifiedOf: destinationOf } = routes
  const { worker, reporter } = sending
  return new Retries({ store: stores.retries, downstream, destinationOf, reporter, worker, accounts, clock, log })
}

function createActivity({ config, clock, log }: OutboundDeps, { stores, accounts, sending }: Parts): AgentActivity {
  const { markAsReadOutgoing: markAsRead, typing, presence } = config.sync
  const { recipients } = sending
  return new AgentActivity({ sent: stores.sent, recipients, accounts, markAsRead, typing, presence, clock, log })
}
