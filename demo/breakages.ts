// The ways to break something, and to mend it again.

import { calm } from '../sim/helpdesk/settings.ts'
import type { BridgeProcess } from './bridge-process.ts'
import type { BridgeWatch } from './bridge-watch.ts'
import { DemoError } from './demo-error.ts'
import { instance } from './stage.ts'
import type { Stage } from './stage.ts'
import type { Broken } from './view.ts'

export class Breakages {
  readonly #stage: Stage
  readonly #watch: BridgeWatch
  #isNetworkCut = false
  #isHelpdeskStopped = false
  #isTwice = false
  #isKilled = false
  /** What was asked for last, with everything before it. */
  #turn: Promise<void> = Promise.resolve()
  /** Whether the visitor has broken something since the start. */
  wasUsed = false

  constructor(stage: Stage, watch: BridgeWatch) {
    this.#stage = stage
    this.#watch = watch
  }

  get state(): Broken {
    return {
      networkCut: this.#isNetworkCut,
      helpdeskStopped: this.#isHelpdeskStopped,
      twice: this.#isTwice,
      killed: this.#isKilled,
    }
  }

  /** WhatsApp drops every connection and takes no new ones. */
  cutNetwork(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isNetworkCut) return
      await this.#stage.world.network.goAway()
      this.#isNetworkCut = true
    })
  }

  restoreNetwork(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isNetworkCut) return
      await this.#stage.world.network.comeBack()
      this.#isNetworkCut = false
    })
  }

  /** The port of the helpdesk refuses connections. */
  stopHelpdesk(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isHelpdeskStopped) return
      await this.#stage.world.helpdesk.fault({ kind: 'refused' })
      this.#isHelpdeskStopped = true
    })
  }

  startHelpdesk(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isHelpdeskStopped) return
      await this.#stage.world.helpdesk.clearFaults()
      this.#isHelpdeskStopped = false
    })
  }

  /** While it is on, WhatsApp delivers each message twice, and the helpdesk calls back twice. */
  deliverTwice(isOn: boolean): void {
    if (isOn === this.#isTwice) return
    const { network, helpdesk } = this.#stage.world
    this.#isTwice = isOn
    this.wasUsed = true
    helpdesk.configure({ quirks: { ...calm, twice: isOn ? 1 : 0 } })
    if (isOn) network.fault({ kind: 'duplicate', times: Infinity })
    else network.clearFaults()
    this.#stage.changed()
  }

  /** kill -9 right after `before`, of the process that holds the shop. `whileDead` happens before it is started again. */
  async killBridge(before: () => void, whileDead: () => void): Promise<void> {
    if (this.#isKilled) throw new DemoError('The bridge is being started again already.')
    this.#isKilled = true
    this.wasUsed = true
    try {
      await this.#watch.look()
      const bridge = this.#watch.nodes.holderOf(instance)
      before()
      await bridge.kill()
      whileDead()
      await bridge.start()
    } finally {
      this.#isKilled = false
      this.#stage.changed()
    }
  }

  /** kill -9 of one node, which stays dead until it is started. */
  async killNode(number: number): Promise<void> {
    this.wasUsed = true
    await this.#node(number).kill()
    this.#stage.changed()
  }

  async startNode(number: number): Promise<void> {
    const node = this.#node(number)
    if (node.pid !== null) throw new DemoError('This node runs already.')
    await node.start()
  }

  #node(number: number): BridgeProcess {
    const node = this.#stage.bridge.processes[number - 1]
    if (!node) throw new DemoError(`There is no node ${number}.`)
    return node
  }

  /** A second click may come while the first one is still at work. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.wasUsed = true
    const turn = this.#turn.then(work).finally(() => {
      this.#stage.changed()
    })
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}
