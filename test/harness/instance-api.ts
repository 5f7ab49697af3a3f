// What tests do with instances over HTTP. The service may run inside the test or as a process of its own.

import assert from 'node:assert/strict'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import type { Answer, RequestOptions } from './http-request.ts'
import { waitUntil } from './wait-until.ts'

/** The phone number that tests link when they name none. */
export const owner = '5511999990001'
export const ownerJid = `${owner}@s.whatsapp.net`

export type Detail = {
  name: string
  state: string
  jid: string | null
  phone: string
  qr: { available: boolean; generated_at: string | null; expires_in_seconds: number | null }
  paired_at: string | null
  ready_at: string | null
  last_event_at: string
  last_jid: string | null
  last_error: string | null
  last_error_code: string | null
  pending_logout: boolean
  reconnect_attempts: number
  network_proxy: string | null
  outgoing_rate_limit: number | null
  history: { enabled: boolean; days: number; asked_days: number }
}

type Requests = {
  get(path: string): Promise<Answer>
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

export abstract class InstanceApi {
  abstract readonly network: SimNetwork
  /** The service that runs now; a restart puts another one here. */
  abstract readonly service: Requests

  create(body: object): Promise<Answer> {
    return this.command('', body)
  }

  /** Posts to a path below /api/instances, such as `/a/restart`. */
  command(path: string, body?: unknown): Promise<Answer> {
    return this.service.request('POST', `/api/instances${path}`, body === undefined ? {} : { body })
  }

  patch(name: string, body: object): Promise<Answer> {
    return this.service.request('PATCH', `/api/instances/${name}`, { body })
  }

  async detail(name: string): Promise<Detail> {
    return (await this.service.get(`/api/instances/${name}`)).body as Detail
  }

  async reaches(name: string, wanted: string | ((state: string) => boolean)): Promise<Detail> {
    const isWanted = typeof wanted === 'string' ? (state: string) => state === wanted : wanted
    const what = typeof wanted === 'string' ? `${name} is ${wanted}` : `${name} changes its state`
    let seen: Detail | undefined
    const holds = async () => {
      await this.beforeLook()
      seen = await this.detail(name)
      return isWanted(seen.state)
    }
    await waitUntil(what, holds, { instead: () => seen })
    return seen as Detail
  }

  async allReady(timeoutMs?: number): Promise<void> {
    let seen: unknown
    const holds = async () => {
      await this.passTime()
      const { status, body } = await this.service.get('/api/instances')
      seen = body
      // An overloaded service lists nothing.
      return status === 200 && (body as Detail[]).every(({ state }) => state === 'ready')
    }
    const instead = () => seen
    await waitUntil('all instances are ready', holds, { instead, ...(timeoutMs !== undefined && { timeoutMs }) })
  }

  /** How often each lifecycle event was counted for this instance. */
  async events(name: string): Promise<Record<string, number>> {
    const { text } = await this.service.get('/metrics')
    const found = text.matchAll(/^service_lifecycle_events_total\{instance="([^"]+)",event="(\w+)".*\} (\d+)$/gm)
    const own = [...found].filter(([, instance]) => instance === name)
    return Object.fromEntries(own.map(([, , event = '', count]) => [event, Number(count)]))
  }

  /** Waits for the count: an event is counted when it is stored, a moment after the state has changed. */
  async tells(name: string, event: string, times: number): Promise<void> {
    const count = async () => (await this.events(name))[event] ?? 0
    await waitUntil(`${event} was told ${times} times`, async () => (await count()) >= times)
    assert.equal(await count(), times, `${event} was told more often`)
  }

  async metric(line: string): Promise<number> {
    const { text } = await this.service.get('/metrics')
    const found = text.split('\n').find((each) => each.startsWith(`${line} `))
    return Number(found?.slice(line.length + 1) ?? 0)
  }

  /** The text of the QR code, once it differs from the other one. */
  async qrText(name: string, other?: string): Promise<string> {
    let text = ''
    await waitUntil(`${name} shows a QR code`, async () => {
      const answer = await this.service.get(`/api/instances/${name}/qr?format=text`)
      text = answer.status === 200 ? answer.text : ''
      return text !== '' && text !== other
    })
    return text
  }

  /** Creates an instance and scans its code; the instance is ready afterwards. */
  async pair(name: string, number = owner, settings: object = {}): Promise<SimPhone> {
    const phone = this.network.phone(number) ?? this.network.account({ phone: number })
    const { status, text } = await this.create({ name, ...settings })
    assert.ok([200, 201].includes(status), text)
    await phone.scan(await this.qrText(name))
    await this.reaches(name, 'ready')
    return phone
  }

  /** A little time passes; nothing is to be done where the clock runs by itself. */
  passTime(): Promise<void> {
    return Promise.resolve()
  }

  /** Runs before each look at the state of an instance. */
  protected beforeLook(): Promise<void> {
    return Promise.resolve()
  }
}
