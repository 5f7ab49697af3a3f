// Creates the rooms that carry messages: received ones to the helpdesk, those of agents to the customer, and what comes beside them.

import { NumberLookup } from '../../bridge/people/number-lookup.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Base } from '../base.ts'
import { createCalls } from '../calls/create-calls.ts'
import { createHelpdeskDatabase } from '../create-helpdesk.ts'
import { createGroupService, createMemberNotes } from '../groups/create-groups.ts'
import { createInbound } from '../inbound/create-inbound.ts'
import { createOutbound } from '../outbound/create-outbound.ts'
import { createSync } from '../sync/create-sync.ts'
import type { AccountRooms } from './create-account-rooms.ts'
import type { Foundation } from './create-foundation.ts'
import type { LaterRooms } from './later-rooms.ts'
import type { RoomOptions } from './room-options.ts'

type Before = { foundation: Foundation; accountRooms: AccountRooms; later: LaterRooms; options: RoomOptions }

export type MessageRooms = ReturnType<typeof createMessageRooms>

export function createMessageRooms(base: Base, before: Before) {
  const receiving = createReceiving(base, before)
  const { outbound, groups } = createSending(base, before, receiving)
  before.later.outbound.set(outbound)
  const helpdeskDatabase = createHelpdeskDatabase(base)
  const sync = createSyncOf(base, before, { ...receiving, outbound, helpdeskDatabase })
  before.later.sync.set(sync)
  return { ...receiving, outbound, groups, helpdeskDatabase, sync }
}

/** What each of these rooms uses. */
function sharedBy({ config, clock, log, stack }: Base, { foundation, accountRooms }: Before) {
  const { storage, duties, traces, live } = foundation
  const { database, holds, idClock, metrics, usage } = storage
  const { accounts, settingsOf, downstream, tenants } = accountRooms
  const { routing, identities } = tenants
  const { instances, network } = accounts
  const onCounted = (instance: InstanceName) => {
    live.relay.instanceChanged(instance)
  }
  return {
    ...{ config, clock, log, stack, database, holds, idClock, metrics, usage, duties, traces },
    ...{ instances, network, settingsOf, downstream, routing, identities, onCounted },
  }
}

function createReceiving(base: Base, before: Before) {
  const { live } = before.foundation
  const { later, options } = before
  const shared = sharedBy(base, before)
  const { instances, stack, clock } = shared
  const calls = createCalls(base, { ...shared, direct: () => later.outbound.get().direct })
  const inbound = createInbound({
    ...shared,
    callOutcomeOf: (instance, callId) => calls.rejections.outcomeOf(instance, callId),
    onShown: (...shown) => later.sync.get().avatars?.avatars.seen(...shown),
    onHeldChanged: (destination) => {
      live.relay.destinationChanged(destination)
    },
    lateCommitMs: options.lateCommitMs,
  })
  stack.use(inbound.held)
  stack.use(inbound.inbound)
  const numbers = new NumberLookup({
    ...{ people: inbound.people, clock },
    sessionOf: (instance) => instances.find(instance)?.session,
  })
  return { calls, inbound, numbers }
}

type Receiving = ReturnType<typeof createReceiving>

function createSending(base: Base, before: Before, { inbound }: Receiving) {
  const { nodes, storage } = before.foundation
  const { notices, accounts } = before.accountRooms
  const { later, options } = before
  const shared = sharedBy(base, before)
  const { people, conversations, choices, lostCallbacks } = inbound
  const memberNotes = createMemberNotes(base, { ...shared, people })
  const outbound = createOutbound({
    ...shared,
    ...{ people, conversations, choices, lostCallbacks },
    ...{ accounts: accounts.instances, roster: accounts.roster },
    ...{ hasPeers: nodes.hasPeers, tellOwner: nodes.tellOwner },
    onSendStep: options.onSendStep ?? (() => Promise.resolve()),
    onOperationsMessage: (...message) => notices?.onOperationsMessage(...message),
    onInboxRow: (instance, id) => {
      inbound.inbound.acceptIfStored(instance, id)
    },
    activityListener: () => later.sync.get().typing.activity,
    onMembersAsked: (question) => {
      memberNotes.asked(question)
    },
    onLabelled: (labels) => later.sync.get().labels.onLabelled(labels),
  })
  const groups = createGroupService(base, {
    ...{ ...shared, people, directory: inbound.groups, audit: storage.audit, guards: outbound.guards },
  })
  return { outbound, groups }
}

type Sent = Pick<ReturnType<typeof createSending>, 'outbound'> & {
  helpdeskDatabase: ReturnType<typeof createHelpdeskDatabase>
}

function createSyncOf(base: Base, before: Before, { inbound, outbound, helpdeskDatabase }: Receiving & Sent) {
  const shared = sharedBy(base, before)
  const { people, groups, conversations, contexts, contactNames, headerHistory } = inbound
  return createSync({
    ...shared,
    ...{ people, groups, conversations, contexts, contactNames, headerHistory, helpdeskDatabase },
    ownChanges: outbound.ownChanges,
    sessionOf: (instance) => shared.instances.find(instance)?.openSession,
    isBusy: (instance) => inbound.inbound.pendingOf(instance) > 0,
    targetOf: (instance) => inbound.destinations.find(instance),
  })
}
