// Links an account from the terminal: opens the pairing, shows its codes as they change, and waits until the account is ready.

import { sleep } from '../src/lib/clock.ts'
import type { Clock } from '../src/lib/clock.ts'
import { CliError, exitCodes } from './cli-error.ts'
import { drawQr } from './draw-qr.ts'
import type { Screen } from './screen.ts'
import { sentenceOf } from './service-client.ts'
import type { ServiceClient } from './service-client.ts'

export type Wish = {
  name: string
  /** Asks for a code to type on this phone, instead of a QR code. */
  phone?: string
  ownerTag?: string
  /** Also makes a helpdesk inbox for the instance. */
  inbox: boolean
}

type Deps = {
  client: Pick<ServiceClient, 'ask' | 'askText' | 'expect'>
  screen: Screen
  colours: boolean
  clock: Clock
  stopped: AbortSignal
  /** Asks the person whether to go on with new codes. */
  goesOn: () => Promise<boolean>
}

type Detail = {
  state: string
  jid: string | null
  qr: { available: boolean; generatedAt: string | null }
  lastError: string | null
  lastErrorCode: string | null
}

const lookEveryMs = 1000
/** Lines for the sentences below a code. */
const roomBelow = 3
const scanAdvice = 'On the phone: WhatsApp, Settings, Linked devices, Link a device. Then scan this code.'
const codeAdvice = 'On the phone: WhatsApp, Settings, Linked devices, Link a device, Link with phone number instead.'

export class AccountLink {
  readonly #deps: Deps
  readonly #wish: Wish
  readonly #path: string
  /** The code that is shown; another one replaces it. */
  #shown: string | null = null

  constructor(deps: Deps, wish: Wish) {
    this.#deps = deps
    this.#wish = wish
    this.#path = `/api/instances/${encodeURIComponent(wish.name)}`
  }

  /** Resolves with the jid when the account is ready. */
  async run(): Promise<string> {
    const { client, screen, clock, stopped } = this.#deps
    const { name, ownerTag, inbox } = this.#wish
    const settings = { ...(ownerTag !== undefined && { owner_tag: ownerTag }), ...(inbox && { inbox: true }) }
    const { body } = await client.expect('POST', '/api/instances', { name, ...settings })
    if (inbox) screen.say(describeInbox(body['inbox']))
    for (;;) {
      stopped.throwIfAborted()
      const detail = await this.#look()
      if (detail?.state === 'ready') return detail.jid ?? ''
      if (detail) await this.#follow(detail)
      await sleep(clock, lookEveryMs, stopped)
    }
  }

  /** Undefined while the service has no time or starts. */
  async #look(): Promise<Detail | undefined> {
    const answer = await this.#deps.client.ask('GET', this.#path)
    if (answer.status === 429 || answer.status === 503) return undefined
    if (answer.status !== 200) throw new CliError(sentenceOf(answer))
    return readDetail(answer.body)
  }

  async #follow(detail: Detail): Promise<void> {
    const { screen } = this.#deps
    switch (detail.state) {
      case 'qr_pending':
        return this.#showCode(detail)
      case 'logged_out':
        throw new CliError('The account was logged out: run this command again to link it anew.')
      case 'disconnected':
        return this.#disconnected(detail)
      default:
        screen.keep()
        screen.say('The phone is linked. The service connects to WhatsApp.')
    }
  }

  async #showCode({ qr, lastError }: Detail): Promise<void> {
    const { screen } = this.#deps
    if (this.#wish.phone !== undefined) return this.#showPairingCode(this.#wish.phone)
    if (!qr.available) screen.say(lastError === null ? 'Waiting for a code.' : `Waiting for a code: ${lastError}`)
    else if (qr.generatedAt !== this.#shown) await this.#showQr(qr.generatedAt)
  }

  async #showQr(generatedAt: string | null): Promise<void> {
    const { client, screen, colours } = this.#deps
    const text = await client.askText(`${this.#path}/qr?format=text`)
    // The code was scanned in this moment.
    if (text === undefined) return
    this.#shown = generatedAt
    const picture = drawQr(text, { colours })
    screen.show([...picture, scanAdvice])
    // A code is a square, and a line shows two rows of it.
    const [width, height] = [picture.length * 2, picture.length + roomBelow]
    if (!screen.fits({ width, height }))
      screen.say(`This window is too small: make it ${width} columns wide and ${height + 1} lines high.`)
  }

  async #showPairingCode(phone: string): Promise<void> {
    if (this.#shown !== null) return
    const { client, screen } = this.#deps
    const { body } = await client.expect('POST', `${this.#path}/pairing-code`, { phone })
    const code = String(body['code'])
    this.#shown = code
    screen.say(`${codeAdvice}\nThe code is ${code.replace(/^(.{4})(.{4})$/, '$1-$2')}.`)
  }

  /** With a session the service connects again by itself. Without one the pairing is over. */
  async #disconnected({ jid, lastError, lastErrorCode }: Detail): Promise<void> {
    const { client, screen, goesOn } = this.#deps
    screen.keep()
    const why = lastError ?? 'the connection is gone'
    if (jid !== null) {
      screen.say(`Waiting for the connection: ${why}`)
      return
    }
    const isUnscanned = lastErrorCode === null || lastErrorCode === 'not_scanned'
    if (!isUnscanned) throw new CliError(`The account could not be linked: ${why}.`)
    screen.say('No phone was linked with these codes in time.')
    if (!(await goesOn())) throw new CliError('Run this command again for new codes.', exitCodes.wrong)
    this.#shown = null
    await client.expect('POST', `${this.#path}/refresh-qr`)
  }
}

function readDetail(body: Record<string, unknown>): Detail {
  const { available, generated_at } = (body['qr'] ?? {}) as Record<string, unknown>
  return {
    state: String(body['state']),
    jid: textOrNull(body['jid']),
    qr: { available: available === true, generatedAt: textOrNull(generated_at) },
    lastError: textOrNull(body['last_error']),
    lastErrorCode: textOrNull(body['last_error_code']),
  }
}

function describeInbox(value: unknown): string {
  const { inbox_id: id, name } = (value ?? {}) as Record<string, unknown>
  return `✓ The instance has the helpdesk inbox ${String(id)}${typeof name === 'string' ? ` (${name})` : ''}.`
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
