// Serves the page of the demo on the loopback address: its files, what it shows, and what a click does.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { json } from 'node:stream/consumers'
import { actions } from './actions.ts'
import type { Fields } from './actions.ts'
import { DemoError } from './demo-error.ts'
import type { Show } from './show.ts'
import { takeSnapshot } from './snapshot.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
}
/** The folders of the repository that the page may load from. It shares a library and colours with the dashboard. */
const root = new URL('../', import.meta.url)
const folders = ['/demo/page/', '/static/']
const home = '/demo/page/index.html'
/** Many changes come at once, and a person sees no more pictures a second. */
const pauseMs = 50
const mostUnreadBytes = 1024 * 1024

type Answer = { status: number; type?: string; body: string | Buffer }

export class PageServer {
  readonly #show: Show
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response)
  })
  readonly #listeners = new Set<ServerResponse>()
  #isDue = false

  constructor(show: Show) {
    this.#show = show
    show.stage.subscribe(() => {
      if (this.#isDue) return
      this.#isDue = true
      setTimeout(() => {
        this.#isDue = false
        this.#tellAll()
      }, pauseMs)
    })
  }

  /** Returns the address of the page. */
  open(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`)
      })
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://demo')
    if (!this.#isOwnPage(request)) {
      send(response, { status: 403, body: 'Open the demo at its own address.' })
      return
    }
    if (pathname === '/') {
      response.writeHead(302, { location: home }).end()
      return
    }
    if (pathname === '/events') {
      this.#listen(response)
      return
    }
    send(response, await this.#handle(request, pathname))
  }

  /** Another site that a visitor has open must not act here, nor read by a name that leads to this machine. */
  #isOwnPage({ headers: { host = '', origin } }: IncomingMessage): boolean {
    const { port } = this.#server.address() as AddressInfo
    const isOwnHost = [`127.0.0.1:${port}`, `localhost:${port}`].includes(host)
    return isOwnHost && (origin === undefined || origin === `http://${host}`)
  }

  async #handle(request: IncomingMessage, path: string): Promise<Answer> {
    try {
      if (path.startsWith('/actions/') && request.method === 'POST')
        return await this.#act(path.slice('/actions/'.length), request)
      if (path === '/qr.png') return pictureOf(await this.#show.qrPicture())
      if (path.startsWith('/files/')) return this.#file(path)
      return await pageFile(path)
    } catch (error) {
      if (error instanceof DemoError || error instanceof SyntaxError) return refusal(error.message)
      return { status: 500, type: 'application/json', body: JSON.stringify({ error: String(error) }) }
    }
  }

  async #act(name: string, request: IncomingMessage): Promise<Answer> {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    if (!action) throw new DemoError(`There is no action "${name}".`)
    const fields = await json(request)
    if (typeof fields !== 'object' || fields === null) throw new DemoError('The body must be a JSON object.')
    await action(this.#show, fields as Fields)
    this.#show.stage.changed()
    return { status: 200, type: 'application/json', body: '{}' }
  }

  /** The pictures and recordings of both sides. */
  #file(path: string): Answer {
    const [, , side, id = ''] = path.split('/')
    if (side === 'phone') {
      const { bytes, type } = this.#show.customer.fileOf(id)
      return { status: 200, type, body: bytes }
    }
    const message = this.#show.stage.world.helpdesk.messages().find((each) => String(each.id) === id)
    const [file] = message?.files ?? []
    if (!file) throw new DemoError('There is no such file.')
    return { status: 200, type: file.contentType, body: Buffer.from(file.bytes) }
  }

  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    this.#listeners.add(response)
    response.on('close', () => this.#listeners.delete(response))
    response.write(this.#event())
  }

  #tellAll(): void {
    if (this.#listeners.size === 0) return
    const event = this.#event()
    for (const listener of this.#listeners) {
      // A page that does not read, such as one in a debugger, gets the whole state when it connects again.
      if (listener.writableLength > mostUnreadBytes) listener.destroy()
      else listener.write(event)
    }
  }

  #event(): string {
    return `data: ${JSON.stringify(takeSnapshot(this.#show))}\n\n`
  }
}

/** A URL has resolved its dots, so a path cannot leave its folder. */
async function pageFile(path: string): Promise<Answer> {
  const type = types[extname(path)]
  const isServed = folders.some((folder) => path.startsWith(folder))
  if (type === undefined || !isServed) return missing
  try {
    return { status: 200, type, body: await readFile(new URL(path.slice(1), root)) }
  } catch {
    return missing
  }
}

const missing: Answer = { status: 404, body: 'There is no such page.' }

function pictureOf(png: Buffer | null): Answer {
  return png ? { status: 200, type: 'image/png', body: png } : { status: 204, body: '' }
}

function refusal(sentence: string): Answer {
  return { status: 409, type: 'application/json', body: JSON.stringify({ error: sentence }) }
}

function send(response: ServerResponse, { status, type = 'text/plain; charset=utf-8', body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}
