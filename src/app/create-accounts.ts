// Puts together the linked accounts: the network, their registry and the use cases on them.

import type { InboundSet } from './create-inbound.ts'
import type { OutboundSet } from './create-outbound.ts'
import type { Config } from '../config/config.ts'
import type { Reception } from '../core/network.ts'
import type { BuildInfo } from '../http/routes/operations.ts'
import { InstanceRegistry } from '../instances/instance-registry.ts'
import { InstanceService } from '../instances/instance-service.ts'
import type { InstanceMessages } from '../instances/instance-service.ts'
import type { Metrics } from '../ledger/metrics.ts'
import type { Clock } from '../lib/clock.ts'
import { Semaphore } from '../lib/semaphore.ts'
import type { Log } from '../lib/log.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { WhatsappNetwork } from '../network/whatsapp-network.ts'
import type { Database } from '../storage/database.ts'
import { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import { JournalStore } from '../storage/stores/messages/journal-store.ts'
import { SessionKeyStore } from '../storage/stores/accounts/session-key-store.ts'

// How many connections may be on their way in at once.
const connectsAtOnce = 8

/** What every set of parts is built with. */
export type Base = {
  config: Config
  clock: Clock
  log: Log
  qrLifetimeMs: number
  build: BuildInfo
  stack: AsyncDisposableStack
}

type AccountParts = {
  database: Database
  epoch: () => number
  lifecycle: Lifecycle
  reception: Reception
  outbound: () => OutboundSet
}

export function createAccounts(base: Base, { database, epoch, lifecycle, reception, outbound }: AccountParts) {
  const { config, clock, log, qrLifetimeMs, stack } = base
  const keys = new SessionKeyStore(database)
  const network = stack.use(
    new WhatsappNetwork({
      keys,
      journal: new JournalStore(database),
      reception,
      epoch,
      clock,
      log,
      settings: config.network,
      qrLifetimeMs,
      findSent: (...sent) => outbound().findSent(...sent),
    }),
  )
  const store = new InstanceStore(database)
  const instances = stack.use(
    new InstanceRegistry({
      network,
      instances: store,
      epoch,
      gate: new Semaphore(connectsAtOnce),
      clock,
      random: Math.random,
      log,
      qrLifetimeMs,
      lifecycle,
      graces: { unreachableMs: config.lifecycle.unreachableGrace, reconnectedMs: config.lifecycle.reconnectedGrace },
      onChange: (name) => {
        outbound().connectionChanged(name)
      },
    }),
  )
  return { instances, store, network }
}

/** The network is there before those who listen to it. */
export function receptionBy(inbound: () => Reception): Reception {
  return {
    onReceived: (...received) => {
      inbound().onReceived(...received)
    },
    onNames: (...names) => {
      inbound().onNames(...names)
    },
    onPairs: (...pairs) => {
      inbound().onPairs(...pairs)
    },
    onPassedOver: (...passed) => {
      inbound().onPassedOver(...passed)
    },
    onRepeated: (...repeated) => {
      inbound().onRepeated(...repeated)
    },
  }
}

type Accounts = ReturnType<typeof createAccounts>

type ServiceParts = Accounts & {
  epoch: () => number
  metrics: Metrics
  inboundSet: InboundSet
  outbound: OutboundSet
}

export function createInstances({ clock }: Base, parts: ServiceParts) {
  const { instances, store, network, metrics, epoch, inboundSet, outbound } = parts
  const messages: InstanceMessages = {
    release: async (name) => {
      for (const part of inboundSet.perInstance) await part.leave(name)
      return inboundSet.undelivered(name)
    },
    resume: async (name) => {
      for (const part of inboundSet.perInstance) await part.take?.(name)
    },
    forget: async (name) => {
      await outbound.forget(name)
      await inboundSet.forget(name)
    },
  }
  const onDeleted = (name: string) => {
    metrics.removeInstance(name)
  }
  const onChanged = () => {
    inboundSet.held.releaseAll()
  }
  const deps = { registry: instances, instances: store, network, epoch, clock, onDeleted, onChanged, messages }
  return { instances, instanceService: new InstanceService(deps) }
}
