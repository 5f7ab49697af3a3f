// A service behind a real proxy that runs with our own file, on free ports and with a certificate of the test.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { freePort } from '../../harness/free-port.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { runTool, toolPath } from './tools.ts'

const host = 'bridge.example.com'

export type ProxyName = 'nginx' | 'caddy'
type Place = { folder: string; port: number; plainPort: number; upstream: string; certificate: string; key: string }
type Start = { command: string; args: string[] }

/** Writes the configuration for the test: our file, with other ports, another certificate and another upstream. */
const writers: Readonly<Record<ProxyName, (place: Place) => Promise<Start>>> = {
  async nginx({ folder, port, plainPort, upstream, certificate, key }) {
    const own = (await readFile('deploy/nginx/causeway.conf', 'utf8'))
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replaceAll('listen 80;', `listen 127.0.0.1:${plainPort};`)
      .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
      .replace('127.0.0.1:3100', upstream)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
    const around = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp { access_log off; ${paths}\n`
    const file = join(folder, 'nginx.conf')
    await writeFile(file, `${around}${own}}\n`)
    runTool('nginx', ['-t', '-c', file, '-p', folder, '-e', 'stderr'])
    return { command: 'nginx', args: ['-c', file, '-p', folder, '-e', 'stderr'] }
  },

  async caddy({ folder, port, plainPort, upstream, certificate, key }) {
    const text = await readFile('deploy/caddy/Caddyfile', 'utf8')
    runTool('caddy', ['validate', '--config', 'deploy/caddy/Caddyfile', '--adapter', 'caddyfile'])
    const own = text
      .replace(
        `${host} {`,
        `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n}\n${host} {\n\ttls ${certificate} ${key}`,
      )
      .replace('127.0.0.1:3100', upstream)
    const file = join(folder, 'Caddyfile')
    await writeFile(file, own)
    return { command: 'caddy', args: ['run', '--config', file, '--adapter', 'caddyfile'] }
  },
}

export class ProxiedService {
  readonly service: Service
  readonly #port: number
  readonly #agent: Agent
  readonly #owned: AsyncDisposableStack

  private constructor(service: Service, port: number, owned: AsyncDisposableStack) {
    this.service = service
    this.#port = port
    this.#owned = owned
    this.#agent = new Agent({ connect: { rejectUnauthorized: false, servername: host } })
  }

  static async start(name: ProxyName, environment: Record<string, string> = {}): Promise<ProxiedService> {
    await using stack = new AsyncDisposableStack()
    const service = stack.use(await Service.start({ environment: { SERVICE_TRUST_PROXY: 'true', ...environment } }))
    const folder = await mkdtemp(join(tmpdir(), 'causeway-proxy-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    // nginx that is started by root works as another user, and stores large bodies in files.
    await chmod(folder, 0o755)
    const [certificate, key] = makeCertificate(folder)
    const ports = { port: await freePort(), plainPort: await freePort() }
    const upstream = new URL(service.app.url).host
    const { command, args } = await writers[name]({ folder, upstream, certificate, key, ...ports })
    const env = { PATH: toolPath, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    stack.use(new Running(spawn(command, args, { env, stdio: 'ignore' })))
    const proxied = new ProxiedService(service, ports.port, stack.move())
    try {
      await waitUntil(`${name} answers`, () => proxied.get('/api/health').then(isOk, () => false))
    } catch (error) {
      await proxied[Symbol.asyncDispose]()
      throw error
    }
    return proxied
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Dispatcher.ResponseData> {
    return this.send('GET', path, { headers })
  }

  send(
    method: Dispatcher.HttpMethod,
    path: string,
    { headers = {}, body = null }: { headers?: Record<string, string>; body?: Buffer | null } = {},
  ): Promise<Dispatcher.ResponseData> {
    const all = { host, authorization: `Bearer ${apiToken}`, ...headers }
    return request(`https://127.0.0.1:${this.#port}${path}`, { dispatcher: this.#agent, method, headers: all, body })
  }

  /** The protocol that the proxy chooses for a browser. */
  protocol(): Promise<string | false | null> {
    return new Promise((resolve, reject) => {
      const options = {
        port: this.#port,
        servername: host,
        rejectUnauthorized: false,
        ALPNProtocols: ['h2', 'http/1.1'],
      }
      const socket = connect(options, () => {
        resolve(socket.alpnProtocol)
        socket.destroy()
      })
      socket.once('error', reject)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy()
    await this.#owned.disposeAsync()
  }
}

class Running {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('close', resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended
  }
}

async function isOk({ statusCode, body }: Dispatcher.ResponseData): Promise<boolean> {
  await body.dump()
  return statusCode === 200
}

function makeCertificate(folder: string): [string, string] {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', key, '-out', certificate, '-days', '2', '-subj', `/CN=${host}`]
  runTool('openssl', ['req', '-x509', ...curve, ...files, '-addext', `subjectAltName=DNS:${host}`])
  return [certificate, key]
}
