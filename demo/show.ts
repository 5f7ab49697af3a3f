// The demo as a whole: the people, what they wrote, what is broken, and the bridge between them.

import { Agent } from './agent.ts'
import { Breakages } from './breakages.ts'
import { BridgeWatch } from './bridge-watch.ts'
import { Customer } from './customer.ts'
import { Manners } from './manners.ts'
import type { Pauses } from './manners.ts'
import { Passages } from './passages.ts'
import { instance } from './stage.ts'
import type { Stage } from './stage.ts'
import { DemoError } from './demo-error.ts'
import { readQr } from '../sim/control/read-qr.ts'

/** Between two codes there is none for a moment. */
const renewQrMs = 3000

export class Show {
  readonly stage: Stage
  readonly passages: Passages
  readonly customer: Customer
  readonly agent: Agent
  readonly manners: Manners
  readonly breakages: Breakages
  readonly watch: BridgeWatch
  readonly #receivedAt = new Map<string, number>()
  #qrSeenAt: number | null = null
  #isScanning = false
  #isLinked = false

  constructor(stage: Stage, pauses: Pauses) {
    this.stage = stage
    this.passages = new Passages(stage)
    this.customer = new Customer(stage, this.passages)
    this.agent = new Agent(stage)
    this.manners = new Manners(stage, this.agent, pauses)
    this.watch = new BridgeWatch(stage)
    this.breakages = new Breakages(stage, this.watch)
    stage.maria.messages.subscribe(({ id }) => {
      this.#receivedAt.set(id, Date.now())
    })
  }

  get isLinked(): boolean {
    return this.#isLinked
  }

  /** When the customer's phone got this message, in milliseconds. WhatsApp itself tells seconds only. */
  receivedAt(id: string): number | undefined {
    return this.#receivedAt.get(id)
  }

  /** The picture with the QR code, as the service draws it. Null while there is none. */
  async qrPicture(): Promise<Buffer | null> {
    if (!this.stage.bridge.isReady) return null
    const { status, bytes } = await this.stage.api.ask('GET', `/api/instances/${instance}/qr?format=png`)
    if (status === 200) {
      this.#qrSeenAt = Date.now()
      return bytes
    }
    await this.#renewQr()
    return null
  }

  /** The service offers codes for two minutes. A visitor may come later. */
  async #renewQr(): Promise<void> {
    if (this.#qrSeenAt === null || Date.now() - this.#qrSeenAt < renewQrMs) return
    this.#qrSeenAt = Date.now()
    await this.stage.api.ask('POST', `/api/instances/${instance}/refresh-qr`)
  }

  /** The camera of the shop's phone reads the picture. Resolves when the account is ready. */
  async scan(): Promise<void> {
    if (this.#isLinked || this.#isScanning) throw new DemoError('The account is linked already, or being linked.')
    this.#isScanning = true
    try {
      const picture = await this.qrPicture()
      if (!picture) throw new DemoError('There is no QR code yet: scan again in some seconds.')
      // The account is being linked, so it needs no other code.
      this.#qrSeenAt = null
      await this.stage.phone.scan(readQr(picture))
      this.#isLinked = true
      await this.ready()
    } finally {
      this.#isScanning = false
    }
  }

  /** Resolves when the account is connected and has received what waited for it. */
  async ready(): Promise<void> {
    await this.stage.api.expect('GET', `/api/instances/${instance}/wait-ready`)
    await this.watch.look()
  }

  /** Callbacks that came again for a message that had one already. */
  get repeatedCallbacks(): number {
    const created = this.stage.world.helpdesk.deliveries.filter(({ event }) => event === 'message_created')
    const ids = created.map(({ body }) => ('id' in body ? body.id : null))
    return ids.length - new Set(ids).size
  }
}
