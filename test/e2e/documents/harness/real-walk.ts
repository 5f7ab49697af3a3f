// The walk of a person with a Chatwoot and a phone, in a clone.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from '../../../harness/document-commands.ts'
import { DocumentShell } from '../../../harness/document-shell.ts'
import type { RunningCommand } from '../../../harness/document-shell.ts'
import { freePort } from '../../../harness/free-port.ts'
import { SimulatedSides } from './simulated-sides.ts'
import { isServing, Walk } from './walk.ts'

export class RealWalk extends Walk {
  readonly #sides: SimulatedSides
  readonly #url: string
  #service: RunningCommand | undefined

  private constructor(shell: DocumentShell, sides: SimulatedSides, url: string) {
    super(shell)
    this.#sides = sides
    this.#url = url
  }

  static async open(): Promise<RealWalk> {
    const sides = await SimulatedSides.start()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const shell = await DocumentShell.open({
      environment: { PORT: String(port), HOST: '127.0.0.1', ...sides.environment },
      replace: {
        ...sides.replace,
        'http://192.168.1.20:3100': url,
        'http://127.0.0.1:3100': url,
        'https://bridge.example.com': url,
        '"inbox_id": 3': `"inbox_id": ${sides.inboxId}`,
        "'Authorization: Bearer <token>'": '"Authorization: Bearer $TOKEN"',
        // The person at the terminal answers the question.
        'npm run restore -- ': 'npm run restore -- --yes ',
        'npm run adopt -- ': 'npm run adopt -- --yes ',
      },
    })
    return new RealWalk(shell, sides, url)
  }

  /** Runs commands that an operator types while the service runs, each once. */
  async operate(commands: readonly Command[]): Promise<void> {
    const settings = { SERVICE: this.#url, TOKEN: await this.#token() }
    for (const text of new Set(commands.map((each) => each.text))) await this.shell.run(text, settings)
  }

  /** Stops the service, runs a command that needs it stopped, and starts it again with another command. */
  async operateStopped(stopped: readonly Command[], start: Command): Promise<void> {
    await this.#service?.stop()
    await this.operate(stopped)
    await this.started(this.shell.start(start.text))
  }

  fillInbox(): number {
    return this.#sides.fillInbox()
  }

  assertTwoWay(): Promise<number> {
    return this.#sides.assertTwoWay()
  }

  protected override async started(service: RunningCommand): Promise<void> {
    this.#service = service
    await service.until('the service serves', () => isServing(this.#url))
  }

  protected override simulated(): Promise<void> {
    throw new Error('a person with a real Chatwoot needs no simulator')
  }

  protected override async linking(command: RunningCommand): Promise<void> {
    await this.#sides.link(command, this.#url, await this.#token())
  }

  async #token(): Promise<string> {
    const settings = await readFile(join(this.shell.folder, '.env'), 'utf8')
    return /^SERVICE_API_TOKEN=(.+)$/m.exec(settings)?.[1] ?? ''
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.#sides[Symbol.asyncDispose]()
  }
}
