// The ways to break something, and to mend it again.

import { calm } from '../sim/helpdesk/settings.ts'
import { DemoError } from './demo-error.ts'
import type { Stage } from './stage.ts'
import type { Broken } from './view.ts'

export class Breakages {
  readonly #stage: Stage
  #isNetworkCut = false
  #isHelpdeskStopped = false
  #isTwice = false
  #restarting: Promise<void> | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  get state(): Broken {
    return {
      networkCut: this.#isNetworkCut,
      helpdeskStopped: this.#isHelpdeskStopped,
      twice: this.#isTwice,
      killed: this.#restarting !== undefined,
    }
  }

  /** WhatsApp drops every connection and takes no new ones. */
  async cutNetwork(): Promise<void> {
    if (this.#isNetworkCut) return
    this.#isNetworkCut = true
    await this.#stage.world.network.goAway()
    this.#stage.changed()
  }

  async restoreNetwork(): Promise<void> {
    if (!this.#isNetworkCut) return
    await this.#stage.world.network.comeBack()
    this.#isNetworkCut = false
    this.#stage.changed()
  }

  /** The port of the helpdesk refuses connections. */
  async stopHelpdesk(): Promise<void> {
    if (this.#isHelpdeskStopped) return
    this.#isHelpdeskStopped = true
    await this.#stage.world.helpdesk.fault({ kind: 'refused' })
    this.#stage.changed()
  }

  async startHelpdesk(): Promise<void> {
    await this.#stage.world.helpdesk.clearFaults()
    this.#isHelpdeskStopped = false
    this.#stage.changed()
  }

  /** While it is on, WhatsApp delivers each message twice, and the helpdesk calls back twice. */
  deliverTwice(isOn: boolean): void {
    const { network, helpdesk } = this.#stage.world
    this.#isTwice = isOn
    helpdesk.configure({ quirks: { ...calm, twice: isOn ? 1 : 0 } })
    if (isOn) network.fault({ kind: 'duplicate', times: Infinity })
    else network.clearFaults()
    this.#stage.changed()
  }

  /** kill -9 in the middle of its work. `whileDead` happens before the service is started again. */
  async killBridge(whileDead: () => void = () => undefined): Promise<void> {
    if (this.#restarting) throw new DemoError('The bridge is being started again already.')
    const { bridge } = this.#stage
    this.#restarting = bridge.kill().then(() => {
      whileDead()
      return bridge.start()
    })
    this.#stage.changed()
    try {
      await this.#restarting
    } finally {
      this.#restarting = undefined
      this.#stage.changed()
    }
  }
}
