// The simulated Chatwoot: one object with the servers, the rows, the webhooks, the agents and the faults.

import { assemble, sayRefusal } from './assemble.ts'
import type { Parts } from './assemble.ts'
import type { ActiveFault, Fault } from './faults/fault-plan.ts'
import { HelpdeskObserver } from './helpdesk-observer.ts'
import type { ConversationRef } from './helpdesk-observer.ts'
import { buildApp } from './http/build-app.ts'
import type { RouteFacts } from './http/build-app.ts'
import { FaultGate } from './http/fault-gate.ts'
import type { HttpApp } from './http/http-app.ts'
import type { Refusal, Visit } from './http/office.ts'
import { answerAsStorage } from './http/storage-server.ts'
import { HelpdeskServers } from './helpdesk-servers.ts'
import { HelpdeskWorld, toInbox } from './helpdesk-world.ts'
import type { Agent, Inbox } from './helpdesk-world.ts'
import { provision } from './provision.ts'
import type { Installation } from './provision.ts'
import type { Settings, SimHelpdeskOptions } from './settings.ts'
import { ShiftableClock } from '../shiftable-clock.ts'
import type { SimClock } from '../shiftable-clock.ts'
import type { SeenConversation, SeenMessage } from './snapshots.ts'
import { HelpdeskState } from './state/helpdesk-state.ts'
import type { Delivery } from './webhooks/webhook-dispatcher.ts'

/** The settings that a bridge needs to work with this helpdesk. */
export type HelpdeskFacts = {
  url: string
  api_token: string
  account_id: number
  inbox_id: number
  /** Empty in versions whose helpdesk inboxes have no secret. */
  webhook_secret: string
}

// The real time that a webhook on the loopback address gets for its answer before simulated time goes on.
const settleMs = 250

export class SimHelpdesk {
  /** Reads the database and waits for its changes. */
  readonly see: HelpdeskObserver
  /** Adds and removes accounts, helpdesk inboxes, agents and bots. */
  readonly world: HelpdeskWorld
  readonly #parts: Parts
  readonly #gate: FaultGate
  readonly #servers: HelpdeskServers
  #app: HttpApp | undefined
  #routes: RouteFacts[] = []
  #installation: Installation
  #agent: Agent
  readonly #settings: Settings

  private constructor(options: SimHelpdeskOptions) {
    const frontendUrl = () => options.frontendUrl || this.url
    const storageUrl = () => this.storageUrl
    this.#parts = assemble(options, {
      get frontendUrl() {
        return frontendUrl()
      },
      get storageUrl() {
        return storageUrl()
      },
    })
    const { office, watch } = this.#parts
    this.#settings = office.desk.settings
    this.see = new HelpdeskObserver(office.desk, watch)
    this.world = new HelpdeskWorld(office)
    this.#gate = new FaultGate(office)
    this.#servers = new HelpdeskServers({
      clock: office.desk.clock,
      faults: office.faults,
      web: (request, response) => {
        this.#app?.routing(request, response)
      },
      storage: answerAsStorage(office),
    })
    this.#installation = provision(office.desk)
    this.#agent = this.#hire()
  }

  static async start(options: SimHelpdeskOptions = {}): Promise<SimHelpdesk> {
    const helpdesk = new SimHelpdesk(options)
    const { app, routes } = await buildApp(helpdesk.#parts.office, helpdesk.#gate)
    helpdesk.#app = app
    helpdesk.#routes = routes
    await helpdesk.#servers.open(options.port ?? 0)
    return helpdesk
  }

  get url(): string {
    return this.#servers.url
  }

  get storageUrl(): string {
    return this.#servers.storageUrl
  }

  get clock(): SimClock {
    return this.#parts.office.desk.clock
  }

  get facts(): HelpdeskFacts {
    const { account, bridge, inbox } = this.#installation
    return {
      url: this.url,
      api_token: bridge.token,
      account_id: account.id,
      inbox_id: inbox.id,
      webhook_secret: this.#parts.office.desk.features.inboxSecret ? inbox.channel.secret : '',
    }
  }

  /** The agent of a fresh installation. */
  get agent(): Agent {
    return this.#agent
  }

  /** The address of the agent's page, signed in. */
  get agentView(): string {
    return `${this.url}/app#token=${this.#agent.token}`
  }

  get inbox(): Inbox {
    return toInbox(this.#installation.inbox)
  }

  get routes(): readonly RouteFacts[] {
    return this.#routes
  }

  messages(conversation?: ConversationRef): SeenMessage[] {
    return this.see.messages(conversation)
  }

  waitForMessage(
    conversation: ConversationRef | undefined,
    matches: (message: SeenMessage) => boolean,
    timeoutMs?: number,
  ): Promise<SeenMessage> {
    return this.see.waitForMessage(conversation, matches, timeoutMs)
  }

  waitForConversation(matches: (one: SeenConversation) => boolean, timeoutMs?: number): Promise<SeenConversation> {
    return this.see.waitForConversation(matches, timeoutMs)
  }

  get deliveries(): readonly Delivery[] {
    return this.#parts.office.webhooks.deliveries.entries
  }

  waitForDelivery(what: string, matches: (one: Delivery) => boolean, timeoutMs?: number): Promise<Delivery> {
    return this.#parts.office.webhooks.deliveries.waitFor(what, matches, timeoutMs)
  }

  /** The answered requests, newest last. */
  get requests(): readonly Visit[] {
    return this.#parts.office.visits.entries
  }

  /** Resolves when every event has been delivered and every background job is done. */
  settled(): Promise<void> {
    return this.#parts.jobs.idle()
  }

  get refusals(): readonly Refusal[] {
    return this.#parts.office.refusals.entries
  }

  assertNothingRefused(): void {
    if (this.refusals.length === 0) return
    throw new Error(`the simulated helpdesk refused:\n${this.refusals.map(sayRefusal).join('\n')}`)
  }

  /** Adds a fault and returns its id for `clearFaults`. */
  async fault(fault: Fault): Promise<number> {
    const id = this.#parts.office.faults.add(fault)
    await this.#servers.followFaults()
    return id
  }

  async clearFaults(id?: number): Promise<void> {
    this.#parts.office.faults.clear(id)
    await this.#servers.followFaults()
  }

  get faults(): ActiveFault[] {
    return this.#parts.office.faults.list()
  }

  /** Resolves when a fault delays this many requests. Then a test can advance the clock. */
  async waitForHeldRequests(count = 1, timeoutMs?: number): Promise<void> {
    const held = () => (this.#gate.held >= count ? count : undefined)
    const instead = () => `${this.#gate.held} are held`
    await this.#parts.watch.until(`${count} requests to be held up by a fault`, held, instead, timeoutMs)
  }

  /**
   * Cuts all connections, loses uncommitted requests and repeats the running jobs. Resolves when the helpdesk is back.
   */
  async restart(downMs = 0): Promise<void> {
    const { office, jobs } = this.#parts
    jobs.pause()
    this.#gate.dropWaiting()
    office.webhooks.abort()
    if (!(await this.#servers.pause(downMs))) return
    jobs.resume()
    await this.#servers.followFaults()
  }

  /** No background job runs for this time, as during an upgrade. Then all workers work off the backlog. */
  workersAway(ms: number): void {
    this.#parts.jobs.leave(ms)
  }

  /** Moves the simulator's own clock forward. */
  async advance(ms: number): Promise<void> {
    if (!(this.clock instanceof ShiftableClock)) throw new Error('this helpdesk was given a clock: advance that one')
    // Without this wait an answer on its way would look like one that took five seconds.
    await this.clock.advance(ms, () => this.#parts.jobs.quiet(settleMs))
  }

  /** Changes settings until the next reset. The number of job threads does not change. */
  configure(changes: Partial<Settings>): void {
    const { desk } = this.#parts.office
    desk.settings = { ...desk.settings, ...changes }
  }

  /** Returns to an empty installation with the same address and tokens, no webhook address and no faults. */
  async reset(): Promise<void> {
    const { office, jobs } = this.#parts
    this.#gate.dropWaiting()
    jobs.clear()
    office.desk.state = new HelpdeskState()
    office.desk.settings = this.#settings
    office.webhooks.reset()
    office.faults.clear()
    office.refusals.clear()
    office.visits.clear()
    office.agentTokens.clear()
    this.#installation = provision(office.desk)
    this.#agent = this.#hire()
    await this.#servers.followFaults()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { office, jobs } = this.#parts
    this.#servers.endPause()
    this.#gate.dropWaiting()
    const closing = jobs.close()
    office.webhooks.abort()
    await closing
    await this.#servers[Symbol.asyncDispose]()
    await this.#app?.close()
  }

  #hire(): Agent {
    return this.world.addAgent({ name: 'Alex' })
  }
}
