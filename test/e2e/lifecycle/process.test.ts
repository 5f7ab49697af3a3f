// Lifecycle deliveries over the end of a process: killed, stopped in order, and stopped twice.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { newLocation } from '../../harness/databases.ts'
import { networkEnvironment } from '../../harness/service.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { assertDelivery, lifecycleSecret, SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'

class ProcessStage {
  readonly environment: Record<string, string>
  readonly network: SimNetwork
  readonly subscribers: SubscriberServer
  readonly #owned: AsyncDisposableStack

  private constructor(
    environment: Record<string, string>,
    network: SimNetwork,
    subscribers: SubscriberServer,
    owned: AsyncDisposableStack,
  ) {
    this.environment = environment
    this.network = network
    this.subscribers = subscribers
    this.#owned = owned
  }

  static async open(more: Record<string, string> = {}): Promise<ProcessStage> {
    await using stack = new AsyncDisposableStack()
    const { url } = stack.use(await newLocation('sqlite'))
    const network = stack.use(await SimNetwork.start())
    const subscribers = stack.use(await SubscriberServer.start())
    const fixed = { DATABASE_URL: url, SERVICE_LIFECYCLE_SECRET: lifecycleSecret }
    const environment = { ...fixed, ...networkEnvironment(network), ...more }
    return new ProcessStage(environment, network, subscribers, stack.move())
  }

  /** Pairs `a` at this service; it is ready afterwards. */
  async pair(url: string, settings: object): Promise<void> {
    const phone = this.network.account({ phone: owner })
    const body = JSON.stringify({ name: 'a', ...settings })
    await fetch(`${url}/api/instances`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    let code = ''
    await waitUntil('a code is shown', async () => {
      const answer = await fetch(`${url}/api/instances/a/qr?format=text`)
      code = answer.ok ? await answer.text() : ''
      return code !== ''
    })
    await phone.scan(code)
    await this.isReady(url)
  }

  async isReady(url: string): Promise<void> {
    await waitUntil('the account is ready', async () => (await get<{ state: string }>(url, '')).state === 'ready')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

async function get<Body>(url: string, path: string): Promise<Body> {
  return (await (await fetch(`${url}/api/instances/a${path}`)).json()) as Body
}

type Report = { subscriber: string; status: string; attempts: number }

describe('a service that is killed', () => {
  test('loses no event, and repeats one only under the same id', async () => {
    await using stage = await ProcessStage.open()
    const { subscribers } = stage
    const paths = ['/well', '/silent', '/fails']
    subscribers.script('/silent', 'silence')
    subscribers.script('/fails', 500)
    await using first = new ServiceProcess(stage.environment)
    const url = await first.ready()
    const events = ['paired', 'connected']
    await stage.pair(url, { events_webhook_subscribers: paths.map((path) => ({ url: subscribers.url(path), events })) })
    for (const path of paths) for (const event of events) await subscribers.gets(path, event)
    await waitUntil('what was answered is stored', async () => {
      const reports = await get<Report[]>(url, '/deliveries')
      const of = (path: string) => reports.filter(({ subscriber }) => subscriber.endsWith(path))
      return (
        of('/well').every(({ status }) => status === 'delivered') &&
        of('/fails').every(({ attempts }) => attempts === 1)
      )
    })
    first.send('SIGKILL')
    await first.exited()
    for (const path of paths) subscribers.script(path, 200)
    await using second = new ServiceProcess(stage.environment)
    await second.ready()
    for (const path of ['/silent', '/fails']) {
      for (const event of events) {
        const again = await subscribers.gets(path, event, 2)
        assertDelivery(again)
        assert.equal(again.raw, subscribers.at(path, event)[0]?.raw)
      }
    }
    assert.equal(subscribers.at('/well').length, events.length, 'what was delivered is not repeated')
  })
})

describe('a stop signal', () => {
  test('is told while the service still answers; what comes after the next start is news only', async () => {
    await using stage = await ProcessStage.open({ SERVICE_SHUTDOWN_GRACE: '2s' })
    const { subscribers } = stage
    await using first = new ServiceProcess(stage.environment)
    const url = await first.ready()
    await stage.pair(url, { events_webhook_url: subscribers.url('/one') })
    await subscribers.gets('/one', 'connected')
    const signalled = performance.now()
    first.send('SIGTERM')
    assertDelivery(await subscribers.gets('/one', 'backend_restarting'))
    assert.equal((await get<{ state: string }>(url, '')).state, 'ready', 'connected and answering in the grace')
    assert.deepEqual(await first.exited(), { code: 0, signal: null })
    assert.ok(performance.now() - signalled >= 2000, 'the grace was given')
    await using second = new ServiceProcess(stage.environment)
    await stage.isReady(await second.ready())
    const { payload } = await subscribers.gets('/one', 'backend_started')
    assert.equal(payload['connected'], true)
    const news = subscribers.events('/one').filter((event) => event !== 'qr_generated')
    assert.deepEqual(news, ['paired', 'connected', 'backend_restarting', 'backend_started'])
  })

  test('that comes twice ends at once, and what was not told is told later', async () => {
    await using stage = await ProcessStage.open({ SERVICE_SHUTDOWN_GRACE: '5m' })
    const { subscribers } = stage
    subscribers.script('/one', 'silence')
    await using first = new ServiceProcess(stage.environment)
    const url = await first.ready()
    const one = { url: subscribers.url('/one'), events: ['backend_restarting'] }
    await stage.pair(url, { events_webhook_subscribers: [one] })
    first.send('SIGTERM')
    const { raw } = await subscribers.gets('/one', 'backend_restarting')
    first.send('SIGTERM')
    assert.deepEqual(await first.exited(), { code: 1, signal: null })
    subscribers.script('/one', 200)
    await using second = new ServiceProcess(stage.environment)
    await second.ready()
    assert.equal((await subscribers.gets('/one', 'backend_restarting', 2)).raw, raw)
  })
})
