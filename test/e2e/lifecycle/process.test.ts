// Lifecycle deliveries over the end of a process: killed, stopped in order, and stopped twice.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { owner } from '../../harness/instance-api.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { assertDelivery, lifecycleSecret, SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Report = { subscriber: string; status: string; attempts: number }

function openWorld(environment: Record<string, string> = {}): Promise<ProcessWorld> {
  return ProcessWorld.open({ accounts: 0, environment: { SERVICE_LIFECYCLE_SECRET: lifecycleSecret, ...environment } })
}

// Side by side: most of the time is spent waiting for processes to start and to end.
describe('lifecycle deliveries of a process', { concurrency: true }, () => {
  describe('a service that is killed', () => {
    test('loses no event, and repeats one only under the same id', async () => {
      await using subscribers = await SubscriberServer.start()
      await using world = await openWorld()
      const paths = ['/well', '/silent', '/fails']
      subscribers.script('/silent', 'silence')
      subscribers.script('/fails', 500)
      const events = ['paired', 'connected']
      const events_webhook_subscribers = paths.map((path) => ({ url: subscribers.url(path), events }))
      await world.pair('a', owner, { events_webhook_subscribers })
      for (const path of paths) for (const event of events) await subscribers.gets(path, event)
      await waitUntil('what was answered is stored', async () => {
        const reports = (await world.service.get('/api/instances/a/deliveries')).body as Report[]
        const of = (path: string) => reports.filter(({ subscriber }) => subscriber.endsWith(path))
        return (
          of('/well').every(({ status }) => status === 'delivered') &&
          // A slow machine may have made the second attempt already.
          of('/fails').every(({ attempts }) => attempts >= 1)
        )
      })
      await world.end('SIGKILL')
      const made = (path: string, event: string) => subscribers.at(path, event).length
      const undelivered = ['/silent', '/fails'].flatMap((path) =>
        events.map((event) => ({ path, event, before: made(path, event) })),
      )
      for (const path of paths) subscribers.script(path, 200)
      await world.startService()
      for (const { path, event, before } of undelivered) {
        const again = await subscribers.gets(path, event, before + 1)
        assertDelivery(again)
        assert.equal(again.raw, subscribers.at(path, event)[0]?.raw)
      }
      assert.equal(subscribers.at('/well').length, events.length, 'what was delivered is not repeated')
    })
  })

  describe('a stop signal', { concurrency: true }, () => {
    test('is told while the service still answers; the next start repeats no event', async () => {
      await using subscribers = await SubscriberServer.start()
      // Long enough for a request of a machine whose cores are kept busy by others.
      await using world = await openWorld({ SERVICE_SHUTDOWN_GRACE: '6s' })
      await world.pair('a', owner, { events_webhook_url: subscribers.url('/one') })
      await subscribers.gets('/one', 'connected')
      world.service.send('SIGTERM')
      assertDelivery(await subscribers.gets('/one', 'backend_restarting'))
      assert.equal((await world.detail('a')).state, 'ready', 'connected and answering in the grace')
      assert.deepEqual(await world.service.exited(), { code: 0, signal: null })
      // A slow machine is told of the first start as well: it pairs while that is told.
      const starts = subscribers.at('/one', 'backend_started').length
      await world.startService()
      await world.reaches('a', 'ready')
      // Its field `connected` depends on the speed of the machine here.
      await subscribers.gets('/one', 'backend_started', starts + 1)
      const news = subscribers.events('/one').filter((event) => event !== 'qr_generated')
      const stop = news.indexOf('backend_restarting')
      const before = news.slice(0, stop).filter((event) => event !== 'backend_started')
      assert.deepEqual(
        [before, news.slice(stop)],
        [
          ['paired', 'connected'],
          ['backend_restarting', 'backend_started'],
        ],
      )
    })

    test('with another one after it ends the process at once, and the next process tells what was not told', async () => {
      await using subscribers = await SubscriberServer.start()
      await using world = await openWorld({ SERVICE_SHUTDOWN_GRACE: '5m' })
      subscribers.script('/one', 'silence')
      const one = { url: subscribers.url('/one'), events: ['backend_restarting'] }
      await world.pair('a', owner, { events_webhook_subscribers: [one] })
      world.service.send('SIGTERM')
      const { raw } = await subscribers.gets('/one', 'backend_restarting')
      // The same signal could be an echo of the first.
      assert.deepEqual(await world.end('SIGINT'), { code: 1, signal: null })
      subscribers.script('/one', 200)
      await world.startService()
      assert.equal((await subscribers.gets('/one', 'backend_restarting', 2)).raw, raw)
    })
  })
})
