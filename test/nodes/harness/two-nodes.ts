// Two nodes in one process: real HTTP between the client, the node that receives a request, and the node that holds the instance.
// The test says who holds what.

import type { Config } from '../../../src/config/config.ts'
import { countForwards, countStandIns } from '../../../src/app/nodes/count-forwards.ts'
import { hearOtherNodes } from '../../../src/app/live/create-live.ts'
import { createPeers, listenForNodes } from '../../../src/app/nodes/create-peers.ts'
import type { InstanceName } from '../../../src/core/ids.ts'
import type { OwnerAnswer, Owners, Standing } from '../../../src/core/nodes/owners.ts'
import type { Peer } from '../../../src/core/nodes/peers.ts'
import type { UnownedCallback } from '../../../src/core/nodes/stand-in.ts'
import type { HttpApp } from '../../../src/http/http-app.ts'
import { addEventsRoute } from '../../../src/http/routes/observe/events.ts'
import { createFrame } from '../../../src/http/server/http-frame.ts'
import type { FrameDeps } from '../../../src/http/server/http-frame.ts'
import { unknownRoute } from '../../../src/http/server/error-reply.ts'
import { closeServer, listen } from '../../../src/http/server/listener.ts'
import { StartGate } from '../../../src/http/server/start-gate.ts'
import type { Phase } from '../../../src/http/server/start-gate.ts'
import { ApiToken } from '../../../src/http/session/api-token.ts'
import { DashboardSessions } from '../../../src/http/session/dashboard-sessions.ts'
import { Metrics } from '../../../src/ledger/metrics.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { LiveHub } from '../../../src/live/live-hub.ts'
import type { PeerClient } from '../../../src/nodes/peer-client.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { addPublicRoutes } from './public-routes.ts'
import type { SeenRequest } from './public-routes.ts'

export const apiToken = 'test-token'
export const nodeSecret = 'a secret of the nodes, 32 bytes long'

/** What a test says about instances at one node. */
export class ScriptedOwners implements Owners {
  /** One answer for each question; the last one stays. */
  answers: OwnerAnswer[] = ['here']
  asked = 0
  forgotten = 0
  readonly taken: InstanceName[] = []

  ownerOf(): Promise<OwnerAnswer> {
    this.asked += 1
    const [next = 'none', ...rest] = this.answers
    if (rest.length > 0) this.answers = rest
    return Promise.resolve(next)
  }

  callbackOwnerOf(): Promise<OwnerAnswer> {
    return this.ownerOf()
  }

  forget(): void {
    this.forgotten += 1
  }

  takeQuarantined(instance: InstanceName): Promise<void> {
    this.taken.push(instance)
    return Promise.resolve()
  }
}

type NodeOptions = { id: string; settings?: Partial<FrameDeps['settings']>; clock?: Clock; secret?: string }

type Started = Omit<NodeOptions, 'id'> & { clock: Clock }

/** Nodes that `startPair` starts do not trust these. */
export const distrusting: Record<string, Omit<NodeOptions, 'id'>> = {
  'its clock is 6 minutes ahead': { clock: { ...systemClock, now: () => systemClock.now() + 6 * 60_000 } },
  'it has another secret': { secret: 'another secret of the nodes, 32 bytes' },
}

export class TestNode {
  readonly id: string
  readonly owners = new ScriptedOwners()
  readonly stored: UnownedCallback[] = []
  /** What other nodes have told. */
  readonly told: string[] = []
  readonly seen: SeenRequest[] = []
  readonly logs = new RecordedLog()
  standing: Standing = 'held'
  phase: Phase = 'serving'
  readonly begun = new AbortController()
  readonly gateClock = new ManualClock()
  /** Why this node cannot store callbacks in place of their owners. */
  standInFailure: Error | undefined
  /** Events wait for nothing but this clock. */
  readonly liveClock = new ManualClock()
  readonly hub = new LiveHub({ version: '1', maxListeners: 32, clock: this.liveClock, log: this.logs.log })
  /** The other nodes, as this one sees them. */
  others: Peer[] = []
  /** What this node holds. */
  readonly epochs = new Map<InstanceName, number>()
  /** Where the cells that this node has started listen. */
  readonly cells = new Map<string, string>()
  url = ''
  address = ''
  app!: HttpApp
  peers!: PeerClient
  readonly metrics = new Metrics({ version: '1' })
  readonly #stack = new AsyncDisposableStack()

  private constructor(id: string) {
    this.id = id
  }

  /** The clock is slow unless the test gives another: then no deadline passes, also on a machine that is kept busy. */
  static async start({ id, clock = new FastClock(0.05), ...options }: NodeOptions): Promise<TestNode> {
    const node = new TestNode(id)
    try {
      await node.#start({ ...options, clock })
    } catch (error) {
      await node[Symbol.asyncDispose]()
      throw error
    }
    return node
  }

  get peer(): Peer {
    return { id: this.id, address: this.address }
  }

  /** As another node finds it. */
  get owner(): OwnerAnswer {
    return { ...this.peer, epoch: 3 }
  }

  async #start({ settings = {}, clock, secret = nodeSecret }: Started): Promise<void> {
    const { log } = this.logs
    const nodes = { listen: { host: '127.0.0.1', port: 0 }, url: null, secret, capacity: 100, cells: false }
    const base = { config: { nodes } satisfies Pick<Config, 'nodes'>, clock, log, stack: this.#stack }
    const parts = createPeers(base)
    this.peers = parts.peers
    const forwarding = {
      ...{ forwarded: parts.forwarded, owners: this.owners, clock },
      peers: countForwards(parts.peers, this.metrics.nodes),
      standIn: countStandIns(this.#standIn(), this.metrics.nodes),
    }
    const gate = new StartGate({ phase: () => this.phase, begun: this.begun.signal, clock: this.gateClock })
    this.app = await createFrame({ ...frameDeps(settings), gate, log, forwarding })
    this.#stack.defer(() => closeServer(this.app))
    addPublicRoutes(this.app, this.id, this.seen)
    addEventsRoute(this.app, { hub: this.hub }, () => () => undefined)
    hearOtherNodes({ clock: this.liveClock, log }, this.hub, {
      ...parts,
      peersNow: () => this.others,
      epochOf: (instance) => this.epochs.get(instance),
    })
    this.app.setNotFoundHandler(() => {
      throw unknownRoute()
    })
    this.url = (await listen(this.app, { host: '127.0.0.1', port: 0 })) ?? ''
    this.address = await listenForNodes(base, parts, {
      self: () => this.id,
      standing: () => Promise.resolve(this.standing),
      calls: this.#calls(),
      events: { join: (listener) => this.hub.joinNode(listener) },
      cells: { urlOf: (key) => this.cells.get(key) },
      serve: (request, response) => {
        this.app.routing(request, response)
      },
    })
  }

  #standIn() {
    return {
      store: (callback: UnownedCallback) => {
        if (this.standInFailure) return Promise.reject(this.standInFailure)
        this.stored.push(callback)
        return Promise.resolve({ status: 202, body: { status: 'queued', stored_by: this.id } })
      },
    }
  }

  #calls() {
    const tell = (what: string) => (instance?: InstanceName) => void this.told.push(`${what} ${instance ?? ''}`.trim())
    const renewed = () => ({ beatAgeMs: 250, watchedMs: 9000 })
    const shows = (view: string) => () => ({ node: this.id, view })
    const views = { overview: shows('overview'), details: shows('details'), jobs: shows('jobs') }
    const showCode = (instance: InstanceName, destination: string) =>
      void this.told.push(`code ${instance} ${destination}`)
    const settingsChanged = tell('settings')
    return { renewed, views, showCode, settingsChanged, look: tell('look'), drain: tell('drain') }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

function frameDeps(settings: Partial<FrameDeps['settings']>) {
  const token = new ApiToken(apiToken)
  return {
    settings: {
      apiToken,
      publicUrl: null,
      bodyLimit: 1024 ** 2,
      maxConnections: 500,
      rateLimit: 0,
      trustProxy: false,
      ...settings,
    },
    clock: systemClock,
    access: { token, sessions: new DashboardSessions({ key: token.sessionKey, clock: systemClock }) },
  }
}

/** The owner holds every instance; the stranger finds that out. */
export async function startPair(options: Omit<NodeOptions, 'id'> = {}) {
  const owner = await TestNode.start({ ...options, id: 'owner-1' })
  const stranger = await TestNode.start({ ...options, id: 'stranger-1' })
  stranger.owners.answers = [owner.owner]
  return {
    owner,
    stranger,
    async [Symbol.asyncDispose]() {
      await Promise.all([stranger[Symbol.asyncDispose](), owner[Symbol.asyncDispose]()])
    },
  }
}
