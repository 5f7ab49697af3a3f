// The walk of a person with a Chatwoot and a phone. Both are simulated; the commands do not know that.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { calm } from '../../../../sim/helpdesk/settings.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import { textOfMessage } from '../../../../sim/network/people/received-message.ts'
import { SimWorld } from '../../../../sim/sim-world.ts'
import type { Command } from '../../../harness/document-commands.ts'
import { DocumentShell } from '../../../harness/document-shell.ts'
import type { RunningCommand } from '../../../harness/document-shell.ts'
import { freePort } from '../../../harness/free-port.ts'
import { requestFrom } from '../../../harness/http-request.ts'
import { networkEnvironment } from '../../../harness/service.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'
import { isServing, Walk } from './walk.ts'

export class RealWalk extends Walk {
  readonly #world: SimWorld
  readonly #url: string
  readonly #phone: SimPhone
  #service: RunningCommand | undefined

  private constructor(shell: DocumentShell, world: SimWorld, url: string) {
    super(shell)
    this.#world = world
    this.#url = url
    this.#phone = world.network.account({ phone: '5511999990001', name: 'Shop' })
  }

  static async open(): Promise<RealWalk> {
    const world = await SimWorld.start({ helpdesk: { quirks: calm } })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const shell = await DocumentShell.open({
      environment: { PORT: String(port), HOST: '127.0.0.1', ...networkEnvironment(world.network) },
      replace: {
        'http://192.168.1.20:3100': url,
        'https://chatwoot.example.com': world.helpdesk.facts.url,
        'token-of-an-administrator': world.helpdesk.facts.api_token,
        'https://bridge.example': url,
        "'Authorization: Bearer <token>'": '"Authorization: Bearer $TOKEN"',
        // The person at the terminal answers the question.
        'npm run restore -- ': 'npm run restore -- --yes ',
      },
    })
    return new RealWalk(shell, world, url)
  }

  /** Runs commands that an operator types while the service runs. */
  async operate(commands: readonly Command[]): Promise<void> {
    const settings = { SERVICE: this.#url, TOKEN: await this.#token() }
    for (const { text } of commands) await this.shell.run(text, settings)
  }

  /** Stops the service, runs a command that needs it stopped, and starts it again with another command. */
  async operateStopped(stopped: readonly Command[], start: Command): Promise<void> {
    await this.#service?.stop()
    await this.operate(stopped)
    await this.started(this.shell.start(start.text))
  }

  /** A customer writes, an agent reads and answers, and the customer gets the answer. */
  async assertTwoWay(): Promise<void> {
    const { network, helpdesk } = this.#world
    const customer = network.person({ phone: '5511888880001', pushName: 'Bob' })
    customer.text(this.#phone, 'Are you open?')
    const question = await helpdesk.waitForMessage(undefined, ({ content }) => content === 'Are you open?', 60_000)
    const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
    const answer = { content: 'Until six.', message_type: 'outgoing' }
    await agent.post(`/conversations/${question.conversationId}/messages`, answer)
    await customer.messages.waitFor('the answer', ({ message }) => textOfMessage(message) === 'Until six.', 60_000)
  }

  protected override async started(service: RunningCommand): Promise<void> {
    this.#service = service
    await service.until('the service serves', () => isServing(this.#url))
  }

  protected override simulated(): Promise<void> {
    throw new Error('a person with a real Chatwoot needs no simulator')
  }

  protected override async linking(command: RunningCommand): Promise<void> {
    const token = await this.#token()
    let code = ''
    await command.until('a QR code is shown', async () => {
      const { status, text } = await requestFrom(this.#url, 'GET', '/api/instances/shop/qr?format=text', { token })
      code = text
      return status === 200
    })
    await this.#phone.scan(code)
  }

  async #token(): Promise<string> {
    const settings = await readFile(join(this.shell.folder, '.env'), 'utf8')
    return /^SERVICE_API_TOKEN=(.+)$/m.exec(settings)?.[1] ?? ''
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.#world[Symbol.asyncDispose]()
  }
}
