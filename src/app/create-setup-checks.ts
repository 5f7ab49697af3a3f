// Creates the checks of the set-up, on request and in the background.

import { tmpdir } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { LostCallbacks } from '../bridge/conversations/lost-callbacks.ts'
import type { Config } from '../config/config.ts'
import type { SettingsOf } from '../core/chosen-settings.ts'
import type { Downstream } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { CallbackRefusals } from '../http/webhook/callback-refusals.ts'
import type { ClockDifferences } from '../http/webhook/clock-differences.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Roster } from '../instances/roster/roster.ts'
import type { Metrics } from '../ledger/metrics.ts'
import { Ticker } from '../lib/ticker.ts'
import { noticeTexts } from '../lifecycle/notice-texts.ts'
import type { WhatsappNetwork } from '../network/whatsapp-network.ts'
import { CallbackFaults } from '../setup/checks/callback-faults.ts'
import { DestinationChecks } from '../setup/checks/destination-checks.ts'
import { HelpdeskVersions } from '../setup/checks/helpdesk-versions.ts'
import { thisMachine } from '../setup/checks/machine.ts'
import type { Machine } from '../setup/checks/machine.ts'
import { ProcessChecks } from '../setup/checks/process-checks.ts'
import { RoundTrip } from '../setup/checks/round-trip.ts'
import { SetupChecks } from '../setup/checks/setup-checks.ts'
import { SetupFindings } from '../setup/checks/setup-findings.ts'
import { SetupWatch } from '../setup/checks/setup-watch.ts'
import type { Routing } from '../tenants/routing.ts'
import type { Base } from './base.ts'

type Parts = {
  settingsOf: SettingsOf
  instances: InstanceRegistry
  roster: Roster
  network: WhatsappNetwork
  downstream: Downstream
  routing: Routing
  lostCallbacks: LostCallbacks
  refusals: CallbackRefusals
  clocks: ClockDifferences
  metrics: Metrics
  machine?: Machine | undefined
}

/** The accounts connect first. */
const firstWatchMs = 10_000
const watchMs = 10_000

export function createSetupChecks({ config, clock, log, stack }: Base, parts: Parts) {
  const { settingsOf, instances, routing, downstream, lostCallbacks: callbacks, refusals, clocks, metrics } = parts
  const findings = new SetupFindings({ clock, log })
  const versions = new HelpdeskVersions(clock)
  const destinations = createDestinationChecks(config, { ...parts, versions })
  const process = createProcessChecks(config, parts)
  const textsOf = (instance: InstanceName) => noticeTexts[settingsOf(instance).locale]
  const faults = new CallbackFaults({ lost: callbacks, refusals: () => [...refusals.list(), ...clocks.list()] })
  const roundTrip = new RoundTrip({ routing, downstream, callbacks, faults, textsOf, clock })
  const checks = stack.use(new SetupChecks({ instances, routing, destinations, process, roundTrip, faults, findings }))
  const watch = new SetupWatch({ instances, routing, destinations, process, findings, clock, random: Math.random })
  const work = () => watch.run()
  const worker = new Ticker({ name: 'setup-watch', everyMs: watchMs, firstMs: firstWatchMs, work, clock, log })
  metrics.gauges.watchSetup(() => findings.list().length)
  return { checks, findings, versions, watch, worker }
}

function createDestinationChecks(
  config: Config,
  { settingsOf, downstream, routing, roster, versions }: Parts & { versions: HelpdeskVersions },
): DestinationChecks {
  return new DestinationChecks({
    downstream,
    routing,
    secretsOf: (instance) => routing.storedSecretsOf(instance),
    find: async (name) => (await roster.findCurrent(name))?.record,
    publicUrl: config.http.publicUrl,
    modeOf: (instance) => settingsOf(instance).conversationMode,
    versions,
  })
}

function createProcessChecks({ http, storage }: Config, parts: Parts): ProcessChecks {
  const { instances, network, machine = thisMachine } = parts
  const { database } = storage
  const own = database.engine === 'sqlite' ? [dirname(resolve(database.path))] : []
  return new ProcessChecks({
    machine,
    directories: [...own, tmpdir()],
    settings: {
      hasEncryptionKey: storage.encryptionKeys.length > 0,
      host: http.host,
      publicUrl: http.publicUrl,
      hasApiToken: http.apiToken !== '',
    },
    instances,
    network,
  })
}
