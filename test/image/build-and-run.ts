// Builds the image with the unchanged Dockerfile and runs it: `npm run test:image`. It needs root, Debian's tools and the
// internet, so the gate does not run it.

import assert from 'node:assert/strict'
import { existsSync, globSync, statSync } from 'node:fs'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimWorld } from '../../sim/sim-world.ts'
import { destinationSettings } from '../harness/destination.ts'
import { freePort } from '../harness/free-port.ts'
import { InstanceApi } from '../harness/instance-api.ts'
import { networkEnvironment } from '../harness/service.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { ContainedService } from './contained-service.ts'
import { ImageWorkshop, whyNot } from './image-workshop.ts'

const base = `docker.io/library/node:${process.version.slice(1)}-bookworm-slim`
const image = 'localhost/causeway:test'
const token = 'token-of-the-image-test'
const commit = '0123456789abcdef'
/** What compose and systemd give the service. */
const mostStopMs = 30_000

class ImageWorld extends InstanceApi {
  readonly service: ContainedService
  readonly #world: SimWorld

  constructor(service: ContainedService, world: SimWorld) {
    super()
    this.service = service
    this.#world = world
  }

  get network(): SimWorld['network'] {
    return this.#world.network
  }

  /** A customer writes, an agent reads and answers, and the customer gets the answer. */
  async assertTwoWay(): Promise<void> {
    const { helpdesk } = this.#world
    const phone = await this.pair('shop', undefined, { inbox: true })
    const customer = this.network.person({ phone: '5511888880001', pushName: 'Bob' })
    customer.text(phone, 'Are you open?')
    const question = await helpdesk.waitForMessage(undefined, ({ content }) => content === 'Are you open?')
    const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
    const answer = { content: 'Until six.', message_type: 'outgoing' }
    await agent.post(`/conversations/${question.conversationId}/messages`, answer)
    await customer.messages.waitFor('the answer', ({ message }) => textOfMessage(message) === 'Until six.')
  }
}

test('the image is built, runs with a read-only root, and stops in order', { skip: whyNot() }, async (context) => {
  await using workshop = await ImageWorkshop.open()
  await timed(context, 'stand-in of the base image', () => workshop.makeBase(base))
  await timed(context, 'build', () => workshop.build(image, { COMMIT: commit, BUILD_DATE: '2026-01-02T03:04:05Z' }))
  context.diagnostic(`size: ${await workshop.sizeOf(image)}, base: ${await workshop.sizeOf(base)}`)
  const config = await workshop.configOf(image)
  const root = await workshop.mount(image)
  assertContents(root)
  assert.equal(config.Labels['org.opencontainers.image.revision'], commit)

  await using world = await SimWorld.start({ helpdesk: { quirks: calm } })
  const data = await makeData(workshop, world)
  const environment = await settingsFor(world)
  await using service = new ContainedService(config, { root, data }, environment)
  await timed(context, 'start', () => service.ready())
  const stage = new ImageWorld(service, world)
  await stage.assertTwoWay()

  const { body: version } = await service.get('/api/version')
  assert.equal((version as { commit: string }).commit, commit)
  const [kind, ...healthCheck] = config.Healthcheck.Test
  assert.equal(kind, 'CMD')
  assert.deepEqual(await service.exec(healthCheck), { code: 0, output: '' })
  await assertSealed(service)
  await assertPrograms(service)

  const since = performance.now()
  assert.deepEqual(await service.stop(), { code: 0, signal: null })
  const stopMs = performance.now() - since
  context.diagnostic(`stop with a linked account: ${(stopMs / 1000).toFixed(1)} s`)
  assert.ok(stopMs < mostStopMs, `the stop took ${stopMs} ms`)
})

async function timed<Result>(context: TestContext, what: string, step: () => Promise<Result>): Promise<Result> {
  const since = performance.now()
  const result = await step()
  context.diagnostic(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`)
  return result
}

async function makeData(workshop: ImageWorkshop, { network }: SimWorld): Promise<string> {
  const data = join(workshop.folder, 'data')
  await mkdir(data)
  await writeFile(join(data, 'ca.pem'), network.authority.pem)
  await chown(data, 1000, 1000)
  return data
}

async function settingsFor({ network, helpdesk }: SimWorld): Promise<Record<string, string>> {
  const port = await freePort()
  return {
    PORT: String(port),
    SERVICE_API_TOKEN: token,
    SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SERVICE_NETWORK_CA: '/data/ca.pem',
    ...networkEnvironment(network),
    ...destinationSettings(helpdesk),
  }
}

/** The packages of production and no second Node, no tests, no simulator. */
function assertContents(root: string): void {
  const has = (path: string) => existsSync(join(root, path))
  for (const path of ['app/bin', 'app/cli', 'app/src/main.ts', 'app/static', 'usr/bin/ffmpeg'])
    assert.ok(has(path), path)
  for (const path of ['app/sim', 'app/demo', 'app/test', 'app/.env', 'app/data', 'app/node_modules/typescript'])
    assert.ok(!has(path), path)
  assert.ok(globSync('app/compiled/*/*', { cwd: root }).length > 1000, 'the code is compiled')
  assert.deepEqual(globSync('app/src/**/*.test.ts', { cwd: root }), [])
  assert.deepEqual(globSync('app/node_modules/node-linux-*', { cwd: root }), [])
  assert.equal(globSync('app/node_modules/@img/sharp-linux-*', { cwd: root }).length, 1)
  // The authority of this machine was mounted during the build. Only the empty files that it was mounted on are left.
  for (const path of ['run/npm/ca.pem', 'usr/local/etc/npmrc']) {
    assert.equal(has(path) ? statSync(join(root, path)).size : 0, 0, path)
  }
}

/** The service can write its volume and its tmpfs, nothing else, and is process 1 of an ordinary user. */
async function assertSealed(service: ContainedService): Promise<void> {
  const kernel = ['-path', '/proc', '-o', '-path', '/dev', '-o', '-path', '/sys']
  const writable = ['find', '/', '(', ...kernel, ')', '-prune', '-o', '-writable', '-not', '-type', 'l', '-print']
  const { output } = await service.exec(writable)
  const places = output.split('\n').filter((line) => line.startsWith('/'))
  assert.deepEqual([...new Set(places.map((path) => path.split('/')[1]))].sort(), ['data', 'tmp'])
  const { output: first } = await service.exec(['sh', '-c', 'tr "\\0" " " < /proc/1/cmdline; id -u; id -g'])
  assert.equal(first, 'node bin/start.cjs 1000\n1000\n')
}

/** ffmpeg, sharp and the programs of the terminal work inside. */
async function assertPrograms(service: ContainedService): Promise<void> {
  assert.match((await service.exec(['ffmpeg', '-version'])).output, /^ffmpeg version/)
  const draw =
    "import('sharp').then(({default: sharp}) => sharp({create: {width: 8, height: 8, channels: 3, background: 'red'}}).jpeg().toBuffer()).then(({length}) => console.log(length > 0))"
  assert.equal((await service.exec(['node', '-e', draw])).output, 'true\n')
  const { code, output } = await service.exec(['node', 'bin/start.cjs', 'doctor'])
  assert.ok(code < 2, output)
  assert.match(output, /shop/)
  assert.deepEqual((await service.exec(['node', 'bin/start.cjs', 'backup', '/data/backup.db'])).code, 0)
}
