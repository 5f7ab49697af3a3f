// The walk of a person without a phone: the simulators are a process that the documents start.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import { DocumentShell } from '../../../harness/document-shell.ts'
import type { RunningCommand } from '../../../harness/document-shell.ts'
import { freePort } from '../../../harness/free-port.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'
import { isServing, Walk } from './walk.ts'

type Facts = { helpdesk: SimHelpdesk['facts'] }
type Conversations = { data: { payload: { id: number }[] } }

export class TrialWalk extends Walk {
  readonly #url: string
  readonly #controlUrl: string
  #desk: DeskClient | undefined

  private constructor(shell: DocumentShell, url: string, controlUrl: string) {
    super(shell)
    this.#url = url
    this.#controlUrl = controlUrl
  }

  static async open(): Promise<TrialWalk> {
    const ports = await Promise.all([3100, 4300, 4301, 4302].map(async (port) => [port, await freePort()] as const))
    const replace = Object.fromEntries(ports.map(([port, free]) => [String(port), String(free)]))
    const urlOf = (port: number) => `http://127.0.0.1:${replace[port] ?? ''}`
    const environment = { PORT: replace[3100] ?? '', CONTROL: urlOf(4300) }
    return new TrialWalk(await DocumentShell.open({ environment, replace }), urlOf(3100), urlOf(4300))
  }

  /** Asks the simulated WhatsApp for something. */
  async control(path: string, body: object): Promise<void> {
    const answer = await fetch(this.#controlUrl + path, { method: 'POST', body: JSON.stringify(body) })
    assert.ok(answer.ok, await answer.text())
  }

  /** An agent answers in the only conversation, as soon as there is one. */
  async answer(content: string): Promise<void> {
    const desk = this.#desk
    assert.ok(desk, 'the simulators run')
    let conversation: number | undefined
    await waitUntil('the message of the customer is at the helpdesk', async () => {
      const { data } = (await desk.get('/conversations')).body as unknown as Conversations
      conversation = data.payload[0]?.id
      return conversation !== undefined
    })
    const body = { content, message_type: 'outgoing' }
    const { status, text } = await desk.post(`/conversations/${conversation ?? 0}/messages`, body)
    assert.equal(status, 200, text)
  }

  protected override async started(service: RunningCommand): Promise<void> {
    await service.until('the service serves', () => isServing(this.#url))
  }

  protected override async simulated(simulators: RunningCommand): Promise<void> {
    const line = () => simulators.output.split('\n').find((each) => each.startsWith('{"network"'))
    await simulators.until('the simulators print their addresses', () => line() !== undefined)
    const { helpdesk } = JSON.parse(line() ?? '') as Facts
    this.#desk = new DeskClient({ url: helpdesk.url, facts: helpdesk })
  }

  protected override linking(): Promise<void> {
    throw new Error('without a phone, the simulated phone scans the code over HTTP')
  }
}
