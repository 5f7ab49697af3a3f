// The metrics that are read at every scrape, so that they are never stale.

import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { ClientVersionState } from '../core/network.ts'
import type { InstanceName } from '../core/ids.ts'

type Series<Label extends string> = { labels: Record<Label, string>; value: number }
type Values = ReadonlyMap<InstanceName, number>
type MaybePromise<Value> = Value | Promise<Value>

type InboxGauges = { pending: number; parked: number; lanes: number; longestLane: number; held: number }
type OutboxGauges = { pending: number; lanes: number; longestLane: number }
type DatabaseGauges = { ok: boolean; latencyMs: number }
type ClusterGauges = { free: number; settingsDiffer: boolean; isSetBack: boolean }

export class Gauges {
  readonly #registry: Registry

  constructor(registry: Registry) {
    this.#registry = registry
  }

  watchInstances(read: () => { active: number; total: number }): void {
    this.add('service_active_instances', 'Instances connected or ready', () => read().active)
    this.add('service_total_instances', 'Instances known', () => read().total)
  }

  /** Only the current state of an instance has a series, which goes with the state, the owner tag or the instance. */
  watchStates(read: () => readonly { name: InstanceName; ownerTag: string; state: string }[]): void {
    const help = 'Always 1; the label carries the current state of the instance'
    this.addSeries('service_instance_state', help, ['instance', 'owner_tag', 'state'], () =>
      read().map(({ name, ownerTag, state }) => ({ labels: { instance: name, owner_tag: ownerTag, state }, value: 1 })),
    )
  }

  watchNetworkVersion(read: () => Pick<ClientVersionState, 'current' | 'isPinned' | 'isRefused'>): void {
    const help =
      'Always 1; the labels carry the client version that the service introduces itself with to WhatsApp, whether a ' +
      'setting pins it, and whether WhatsApp refused it when it was last used'
    this.addSeries('service_network_version_info', help, ['version', 'pinned', 'refused'], () => {
      const { current, isPinned, isRefused } = read()
      return [{ labels: { version: current, pinned: String(isPinned), refused: String(isRefused) }, value: 1 }]
    })
  }

  watchSetup(read: () => number): void {
    this.add('service_setup_findings', 'Checks of the set-up that fail', read)
  }

  watchInbox(read: () => InboxGauges): void {
    this.add('service_inbox_pending', 'Received messages on their way to the helpdesk', () => read().pending)
    this.add('service_inbox_parked', 'Received messages that were set aside', () => read().parked)
    this.add('service_inbound_lanes', 'Chats with received messages on their way', () => read().lanes)
    this.add(
      'service_inbound_lane_longest',
      'Received messages of the chat that has most of them on their way',
      () => read().longestLane,
    )
    this.add('service_destinations_held', 'Destinations that take nothing at the moment', () => read().held)
  }

  watchOutbox(read: () => OutboxGauges): void {
    this.add('service_outbox_pending', 'Outgoing messages that wait or are under way', () => read().pending)
    this.add('service_outbound_lanes', 'Chats with outgoing messages that wait or are under way', () => read().lanes)
    this.add(
      'service_outbound_lane_longest',
      'Outgoing messages of the chat that has most of them waiting or under way',
      () => read().longestLane,
    )
  }

  /** Ages in seconds. An instance without a waiting message has no series. */
  watchAges(read: { received: () => Promise<Values>; outgoing: () => Promise<Values> }): void {
    this.#addByInstance(
      'service_inbox_oldest_seconds',
      'Age of the oldest received message that the helpdesk does not have yet',
      read.received,
    )
    this.#addByInstance(
      'service_outbox_oldest_seconds',
      'Age of the oldest outgoing message that is not sent yet',
      read.outgoing,
    )
  }

  /** An instance that sent nothing lately has no series. */
  watchBanRisk(read: () => Values): void {
    this.#addByInstance('service_ban_risk_score', 'Ban risk of the account, from 0 to 1; 0.7 or more is high', read)
  }

  /** Each node tells only its own: the sum over all nodes is the whole. */
  watchNode(node: string, read: () => { active: number; total: number }): void {
    const labels = { node }
    this.addSeries('service_node_instances', 'Instances that this node holds', ['node'], () => [
      { labels, value: read().total },
    ])
    this.addSeries('service_node_connected', 'Instances of this node that are connected or ready', ['node'], () => [
      { labels, value: read().active },
    ])
  }

  /** What this node sees of all nodes. One process alone sees nothing wrong. */
  watchCluster(read: () => ClusterGauges): void {
    this.add('service_free_instances', 'Instances that no node holds, without those in quarantine', () => read().free)
    const differ = '1 when the settings of this node are not those of most nodes of its build'
    this.add('service_node_settings_differ', differ, () => Number(read().settingsDiffer))
    const setBack = '1 for a day after this node saw that the database had lost what it had confirmed'
    this.add('service_database_set_back', setBack, () => Number(read().isSetBack))
  }

  watchWorkers(read: () => readonly { name: string; failure: Error | undefined }[]): void {
    const help = '1 when the last run of the background worker failed'
    this.addSeries('service_worker_failed', help, ['worker'], () =>
      read().map(({ name, failure }) => ({ labels: { worker: name }, value: failure ? 1 : 0 })),
    )
  }

  watchOwner(isOwner: () => boolean): void {
    const help = '1 when this process owns the accounts and acts; 0 in standby and when its lease is uncertain or lost'
    this.add('service_owner', help, () => Number(isOwner()))
  }

  watchDatabase(read: () => DatabaseGauges): void {
    this.add('service_database_up', '1 when the database answers within 2 s', () => Number(read().ok))
    this.add(
      'service_database_latency_seconds',
      'How long the last question to the database took',
      () => read().latencyMs / 1000,
    )
  }

  watchDisk(read: () => Promise<number | undefined>): void {
    new Gauge({
      name: 'service_disk_free_ratio',
      help: 'Free share of the disk with the embedded database, from 0 to 1',
      registers: [this.#registry],
      async collect() {
        const value = await read()
        // A gauge without labels starts at 0, which would look like a full disk.
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }

  /** One value for the whole process. */
  add(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read())
      },
    })
  }

  /** A series that is not read any more goes. */
  addSeries<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: () => MaybePromise<readonly Series<Label>[]>,
  ): void {
    new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const series = await read()
        this.reset()
        for (const { labels, value } of series) this.set(labels, value)
      },
    })
  }

  #addByInstance(name: string, help: string, read: () => MaybePromise<Values>): void {
    this.addSeries(name, help, ['instance'], async () =>
      [...(await read())].map(([instance, value]) => ({ labels: { instance }, value })),
    )
  }
}
