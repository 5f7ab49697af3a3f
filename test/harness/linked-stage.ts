// A simulated network and a service connected to it, with the steps that most instance tests share.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import type { SimNetworkOptions } from '../../sim/network/sim-network.ts'
import { Service } from './service.ts'
import type { Answer, ServiceOptions } from './service.ts'
import { waitUntil } from './wait-until.ts'

export type Detail = {
  name: string
  state: string
  jid: string | null
  phone: string
  qr: { available: boolean; generated_at: string | null; expires_in_seconds: number | null }
  paired_at: string | null
  ready_at: string | null
  last_jid: string | null
  last_error: string | null
  reconnect_attempts: number
}

export class LinkedStage {
  readonly network: SimNetwork
  service: Service
  readonly #options: ServiceOptions

  private constructor(network: SimNetwork, service: Service, options: ServiceOptions) {
    this.network = network
    this.service = service
    this.#options = options
  }

  static async open(options: ServiceOptions = {}, sim: SimNetworkOptions = {}): Promise<LinkedStage> {
    const network = await SimNetwork.start(sim)
    const service = await Service.start({ ...options, network })
    return new LinkedStage(network, service, options)
  }

  /** Stops the service and starts it again on the same database; needs a `place` that outlives it. */
  async restartService(): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    this.service = await Service.start({ ...this.#options, network: this.network })
  }

  async detail(name: string): Promise<Detail> {
    return (await this.service.get(`/api/instances/${name}`)).body as Detail
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.service.request('POST', `/api/instances${path}`, body === undefined ? {} : { body })
  }

  async reaches(name: string, state: string): Promise<Detail> {
    let seen: Detail | undefined
    await waitUntil(
      `${name} is ${state}`,
      async () => {
        seen = await this.detail(name)
        return seen.state === state
      },
      { instead: () => seen },
    )
    return seen as Detail
  }

  /** How often each lifecycle event was counted for this instance. */
  async events(name: string): Promise<Record<string, number>> {
    const { text } = await this.service.get('/metrics')
    const found = text.matchAll(/^service_lifecycle_events_total\{instance="([^"]+)",event="(\w+)".*\} (\d+)$/gm)
    const own = [...found].filter(([, instance]) => instance === name)
    return Object.fromEntries(own.map(([, , event = '', count]) => [event, Number(count)]))
  }

  /** Counted when it is stored, a moment after the state has changed. */
  async tells(name: string, event: string, times: number): Promise<void> {
    const count = async () => (await this.events(name))[event] ?? 0
    await waitUntil(`${event} was told ${times} times`, async () => (await count()) >= times)
    assert.equal(await count(), times, `${event} was told more often`)
  }

  async qrText(name: string, other?: string): Promise<string> {
    let text = ''
    await waitUntil(`${name} shows a QR code`, async () => {
      const answer = await this.service.get(`/api/instances/${name}/qr?format=text`)
      text = answer.status === 200 ? answer.text : ''
      return text !== '' && text !== other
    })
    return text
  }

  /** Creates an instance and scans its code; it is ready afterwards. */
  async pair(name: string, number = '5511999990001'): Promise<SimPhone> {
    const phone = this.network.phone(number) ?? this.network.account({ phone: number })
    const { status, text } = await this.post('', { name })
    assert.ok([200, 201].includes(status), text)
    await phone.scan(await this.qrText(name))
    await this.reaches(name, 'ready')
    return phone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.network[Symbol.asyncDispose]()
  }
}
