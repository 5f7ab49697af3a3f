// The walk of an operator on a new server, from an empty directory. A folder is the root of the server. Stand-ins take the place
// of the programs that change a machine or need the internet; they start the service with the unit or the compose file.

import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from '../../../harness/document-commands.ts'
import { DocumentShell } from '../../../harness/document-shell.ts'
import { freePort } from '../../../harness/free-port.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { SimulatedSides } from './simulated-sides.ts'
import { isServing } from './walk.ts'

/** Folders that the packages of a server make. */
const folders = ['opt', 'etc/systemd/system', 'etc/caddy', 'etc/nginx/conf.d', 'etc/cron.d', 'var/lib']
/** What a shell remembers for the commands that follow. */
const remembered = /^(?:cd |set -a |export |[A-Z]+=\S+$)/

type Place = { settings: string; domain: string }

export class ServerWalk {
  readonly #shell: DocumentShell
  readonly #sides: SimulatedSides
  readonly #url: string
  readonly #place: Place
  #state = ''
  #isLinked = false

  private constructor(shell: DocumentShell, sides: SimulatedSides, url: string, place: Place) {
    this.#shell = shell
    this.#sides = sides
    this.#url = url
    this.#place = place
  }

  /** `place.settings` is the file that has the token. */
  static async open(place: Place): Promise<ServerWalk> {
    const sides = await SimulatedSides.start()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const shell = await DocumentShell.openEmpty(({ folder }) => ({
      environment: {
        ...sides.environment,
        PORT: String(port),
        SERVICE_SHUTDOWN_GRACE: '0',
        HOME: folder,
        MACHINE: folder,
        REPOSITORY: resolve('.'),
        PATH: `${resolve('test/e2e/documents/stand-ins')}:${process.env['PATH'] ?? ''}`,
      },
      replace: {
        ...sides.replace,
        'DOMAIN=bridge.example.com': `DOMAIN=${place.domain}`,
        'https://bridge.example.com': url,
        'http://127.0.0.1:3100': url,
        '<this repository>': resolve('.'),
        ' /etc/': ` ${folder}/etc/`,
        ' /opt/': ` ${folder}/opt/`,
        ' /data/': ` ${folder}/data/`,
        'file:/var/': `file:${folder}/var/`,
        ' /var/lib/': ` ${folder}/var/lib/`,
        'runuser -u causeway -- ': '',
      },
    }))
    for (const each of folders) await mkdir(join(shell.folder, each), { recursive: true })
    return new ServerWalk(shell, sides, url, place)
  }

  /** Resolves with what the commands printed. */
  async follow(commands: readonly Command[]): Promise<string> {
    let printed = ''
    for (const { text } of commands) {
      if (remembered.test(text)) {
        this.#state += `${text}\n`
        continue
      }
      const command = this.#shell.start(this.#state + text)
      if (text.includes(' link ') && !this.#isLinked) {
        await this.#sides.link(command, this.#url, await this.#token())
        this.#isLinked = true
      }
      printed += await command.succeeds()
      if (/^systemctl (?:enable|start|restart)|^docker compose up/.test(text)) await this.#started()
    }
    return printed
  }

  /** Runs what cron runs every night. */
  async runNightly(): Promise<string> {
    const [, command = ''] = this.read('etc/cron.d/causeway').split(' root ')
    return this.#shell.run(command)
  }

  read(path: string): string {
    return readFileSync(join(this.#shell.folder, path), 'utf8')
  }

  assertTwoWay(): Promise<number> {
    return this.#sides.assertTwoWay()
  }

  async #started(): Promise<void> {
    await waitUntil('the service serves', () => isServing(this.#url), { instead: () => this.read('log') })
  }

  async #token(): Promise<string> {
    const settings = await readFile(join(this.#shell.folder, this.#place.settings), 'utf8')
    return /^SERVICE_API_TOKEN=(.+)$/m.exec(settings)?.[1] ?? ''
  }

  /** Ends the service that a stand-in started: it has a session of its own. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(join(this.#shell.folder, 'service.pid'))) kill(Number(this.read('service.pid')))
    await this.#shell[Symbol.asyncDispose]()
    await this.#sides[Symbol.asyncDispose]()
  }
}

/** Also ends a service that an older Node has started. */
function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
