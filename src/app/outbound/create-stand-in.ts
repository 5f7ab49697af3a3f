// Creates the stand-in: the parts that follow callbacks, over stores that write without the right to an instance.

import { AnswerInTime } from '../../bridge/outbound/accept/answer-in-time.ts'
import { AnswerRoutes } from '../../bridge/outbound/accept/answer-routes.ts'
import type { CallbackAges } from '../../bridge/outbound/accept/callback-ages.ts'
import type { FirstCallbacks } from '../../bridge/outbound/accept/first-callbacks.ts'
import { MessageAcceptor } from '../../bridge/outbound/accept/message-acceptor.ts'
import { MessageChanges } from '../../bridge/outbound/accept/message-changes.ts'
import { MessageDeletions } from '../../bridge/outbound/accept/message-deletions.ts'
import type { MessageRows } from '../../bridge/outbound/accept/message-rows.ts'
import { MessageStorage } from '../../bridge/outbound/accept/message-storage.ts'
import type { NewRows } from '../../bridge/outbound/accept/new-rows.ts'
import { RetryRequests } from '../../bridge/outbound/accept/retry-requests.ts'
import { SendContexts } from '../../bridge/outbound/accept/send-context.ts'
import { SendGuards } from '../../bridge/outbound/accept/send-guards.ts'
import { Recipients } from '../../bridge/outbound/send/recipients.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import { DoubtfulCallbacks } from '../../bridge/outbound/stand-in/doubtful-callbacks.ts'
import { ConfirmedRows } from '../../bridge/outbound/stand-in/confirmed-rows.ts'
import { OwnerQueue } from '../../bridge/outbound/stand-in/owner-queue.ts'
import { UnownedOutbox } from '../../bridge/outbound/stand-in/unowned-outbox.ts'
import { UnownedPeople } from '../../bridge/outbound/stand-in/unowned-people.ts'
import type { RowId } from '../../core/ids.ts'
import type { Fingerprints } from '../../guard/fingerprints.ts'
import { CallbackAdmission } from '../../http/webhook/callback-admission.ts'
import { CallbackStandIn } from '../../http/webhook/callback-stand-in.ts'
import type { RefusalReason } from '../../http/webhook/refusal-sentences.ts'
import { WebhookHandler } from '../../http/webhook/webhook-handler.ts'
import { ChatLanes } from '../../lib/queues/chat-lanes.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { OutboxTransitions } from '../../storage/stores/messages/outbox-transitions.ts'
import { RetryStore } from '../../storage/stores/messages/retry-store.ts'
import { SendContextStore } from '../../storage/stores/messages/send-context-store.ts'
import { ShownStore } from '../../storage/stores/messages/shown-store.ts'
import { PeopleStore } from '../../storage/stores/people/people-store.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { SendingParts } from './create-sending.ts'
import type { OutboundDeps } from './outbound-deps.ts'
import type { OutboundRoutes } from './outbound-routes.ts'
import type { OutboundStores } from './outbound-stores.ts'

type Parts = {
  stores: OutboundStores
  accounts: SendingAccounts
  routes: OutboundRoutes
  sending: SendingParts
  newId: () => RowId
}

/** What a stand-in shares with the parts that follow the callbacks of own instances. */
type Shared = {
  fingerprints: Fingerprints
  rows: MessageRows
  newRows: NewRows
  firstCallbacks: FirstCallbacks
  ages: CallbackAges
  routing: Pick<Routing, 'destinationOf' | 'configuredSecretsOf' | 'webhookSecretsOf'>
  localeOf: ConstructorParameters<typeof CallbackAdmission>[0]['localeOf']
  /** Counts a refused callback. */
  count: (reason: RefusalReason) => void
}

export function createStandIn(deps: OutboundDeps, parts: Parts, shared: Shared) {
  const stores = createStores(deps)
  const recipients = createRecipients(deps, parts)
  const queue = new OwnerQueue(deps.tellOwner)
  const undecided = new ConfirmedRows({ ...stores, tellOwner: deps.tellOwner, clock: deps.clock })
  const made = { ...stores, recipients, queue, undecided }
  const acceptor = createAcceptor(deps, parts, shared, made)
  const changes = deps.stack.use(createChanges(deps, parts, shared, made))
  const handlerOf = (outbound: Pick<MessageAcceptor, 'send'>) =>
    new WebhookHandler({
      ...{ admission: createAdmission(deps, shared), outbound, changes, events: noEvents, ages: shared.ages },
      // Only the owner knows the state that an agent asks for.
      onOperationsMessage: () => undefined,
      ...{ traces: deps.traces, clock: deps.clock, log: deps.log },
    })
  const doubtful = handlerOf(new DoubtfulCallbacks(acceptor))
  return { acceptor, changes, standIn: new CallbackStandIn({ certain: handlerOf(acceptor), doubtful }) }
}

/** Typing, seen, labels and notes need the session or the memory of the owner. They are answered, and nothing is done. */
const noEvents = {
  heard: () => undefined,
  follow: () => Promise.resolve(),
  accepted: () => undefined,
}

function createStores({ database, holds, clock }: OutboundDeps) {
  return {
    outbox: new UnownedOutbox(database, holds.nodeHold),
    transitions: new OutboxTransitions(database, holds.nodeHold),
    retries: new RetryStore(database, holds.nodeHold),
    shown: new ShownStore(database, holds.nodeHold),
    // The stand-in reads each context anew, so it remembers none.
    contexts: new SendContextStore(database, clock, 0),
  }
}

type Made = ReturnType<typeof createStores> & { recipients: Recipients; queue: OwnerQueue; undecided: ConfirmedRows }

function createRecipients({ database, holds, clock, idClock = clock }: OutboundDeps, { stores }: Parts): Recipients {
  const newId = createRowIds(idClock)
  const people = new UnownedPeople({ store: new PeopleStore(database), nodeHold: holds.nodeHold, newId })
  return new Recipients({ people, sent: stores.sent })
}

/** What is remembered of refused callbacks and of clocks is of own instances, so only the refusals are counted. */
function createAdmission({ roster, clock }: OutboundDeps, { routing, localeOf, count }: Shared): CallbackAdmission {
  return new CallbackAdmission({
    instances: { find: (name) => roster.findCurrent(name) },
    routing,
    clocks: { refused: () => undefined, agreed: () => undefined },
    refusals: {
      refused: (_, reason) => {
        count(reason)
      },
      accepted: () => undefined,
    },
    clock,
    localeOf,
  })
}

function createAcceptor(
  { config, clock, log, traces, onSendStep: onStep }: OutboundDeps,
  { accounts, routes, sending, newId }: Parts,
  { fingerprints, rows, newRows }: Shared,
  { outbox, contexts: store, recipients, queue, undecided }: Made,
): MessageAcceptor {
  const { spamguard, callbackMaxAge: maxAgeMs } = config.outbound
  const { outcomes, looks, pace, metrics } = sending
  const contexts = new SendContexts({ store, recipients, routeOf: routes.routeOf })
  return new MessageAcceptor({
    guards: new SendGuards({ outbox, undecided, looks, metrics, accounts, spamguard, maxAgeMs, fingerprints, rows }),
    // The owner puts the rows of a conversation in order when it queues them.
    order: { inTurn: (_route, _command, _times, accept) => accept(), skip: () => undefined },
    contexts: {
      questionOf: (...asked) => contexts.questionOf(...asked),
      recall: () => Promise.resolve(undefined),
      read: (question) => contexts.read(question),
    },
    immediate: { prepare: () => Promise.resolve(undefined) },
    storage: new MessageStorage({
      ...{ outbox, undecided, worker: queue, looks, pace, fingerprints, onStep, newId, traces },
    }),
    answers: new AnswerInTime({ outbox, outcomes, accounts: { isNearlyReady: () => false }, clock, log }),
    rows: newRows,
    others: {
      acceptorFor: () => undefined,
      acceptor: null,
      catchUp: () => Promise.resolve(),
      noneStored: () => undefined,
    },
    lanes: new ChatLanes(),
  })
}

function createChanges(
  { clock, log }: OutboundDeps,
  { stores: { map }, routes, newId }: Parts,
  { firstCallbacks, rows }: Shared,
  { outbox, transitions, retries, shown, contexts, recipients, queue: worker, undecided }: Made,
): MessageChanges {
  const answers = new AnswerRoutes({ store: contexts, recipients, routeOf: routes.routeOf })
  const accounts = { isReady: () => false }
  return new MessageChanges({
    deletions: new MessageDeletions({
      ...{ outbox, transitions, retries, undecided, map, worker, accounts, newId, clock },
    }),
    // The owner looks every few seconds.
    requests: new RetryRequests({
      ...{ outbox, shown, retries, answers, firstCallbacks, rows, clock },
      wake: () => undefined,
    }),
    elsewhere: null,
    clock,
    log,
  })
}
