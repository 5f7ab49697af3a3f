import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines, newLocation } from '../../harness/databases.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Health = { status: string; checks: { ownership: string } }

const waiting = 'another process owns the accounts, waiting'

async function urlInStandby(service: ServiceProcess): Promise<string> {
  await service.logged(waiting)
  const url = String((await service.logged('http listening'))['url'])
  const state = async () => ((await (await fetch(`${url}/api/health`)).json()) as Health).checks.ownership
  await waitUntil('the second process knows that the first one lives', async () => (await state()) === 'standby')
  return url
}

/** What a balancer learns. */
async function ready(url: string): Promise<[number, unknown]> {
  const answer = await fetch(`${url}/api/ready`)
  return [answer.status, await answer.json()]
}

for (const engine of engines) {
  describe(`two processes on one database, ${engine}`, { concurrency: true }, () => {
    test('the second stands by, says so, and takes over when the first stops', async () => {
      await using place = await newLocation(engine)
      const environment = { DATABASE_URL: place.url }
      await using first = new ServiceProcess(environment)
      await first.ready()
      await using second = new ServiceProcess(environment)
      const url = await urlInStandby(second)
      const health = await fetch(`${url}/api/health`)
      const { status, checks } = (await health.json()) as Health
      assert.deepEqual([health.status, status, checks.ownership], [200, 'degraded', 'standby'])
      assert.deepEqual(await ready(url), [503, { status: 'standby' }])
      const refused = await fetch(`${url}/api/tenants`)
      assert.equal(refused.status, 503)
      assert.match(await refused.text(), /SERVICE_STANDBY/)
      const body = JSON.stringify({ token: 'any' })
      const headers = { 'content-type': 'application/json' }
      const signIn = await fetch(`${url}/api/session`, { method: 'POST', headers, body })
      assert.equal(signIn.status, 503)
      assert.match(await signIn.text(), /SERVICE_STANDBY/)
      // Following the root, this is the dashboard.
      assert.deepEqual([(await fetch(url)).status, (await fetch(`${url}/favicon.ico`)).status], [200, 200])
      first.send('SIGTERM')
      assert.equal((await first.exited()).code, 0)
      await second.ready()
      assert.equal((await fetch(`${url}/api/tenants`)).status, 200)
      assert.deepEqual(await ready(url), [200, { status: 'ready' }])
    })

    test('the second takes over when the first is killed', async () => {
      await using place = await newLocation(engine)
      const environment = { DATABASE_URL: place.url }
      await using first = new ServiceProcess(environment)
      await first.ready()
      await using second = new ServiceProcess(environment)
      await second.logged(waiting)
      first.send('SIGKILL')
      await second.ready()
    })

    test('a frozen first process finds the accounts taken when it wakes, and ends with the name of the new owner', async () => {
      await using place = await newLocation(engine)
      const environment = { DATABASE_URL: place.url }
      await using first = new ServiceProcess(environment)
      await first.ready()
      await using second = new ServiceProcess(environment)
      await second.logged(waiting)
      first.send('SIGSTOP')
      await second.ready()
      first.send('SIGCONT')
      assert.equal((await first.exited()).code, 1)
      assert.match(first.errors, new RegExp(`pid ${second.pid} .*owns the accounts`))
    })
  })
}

test('on the same port the second waits without listening and serves once the first is gone', async () => {
  await using place = await newLocation('sqlite')
  await using first = new ServiceProcess({ DATABASE_URL: place.url })
  const { port } = new URL(await first.ready())
  await using second = new ServiceProcess({ DATABASE_URL: place.url, PORT: port })
  await second.logged(waiting)
  first.send('SIGTERM')
  const url = await second.ready()
  assert.equal(new URL(url).port, port)
  assert.equal((await fetch(`${url}/api/health`)).status, 200)
})

test('a standby that is told to stop ends cleanly', async () => {
  await using place = await newLocation('sqlite')
  await using first = new ServiceProcess({ DATABASE_URL: place.url })
  await first.ready()
  await using second = new ServiceProcess({ DATABASE_URL: place.url })
  await second.logged(waiting)
  second.send('SIGTERM')
  assert.equal((await second.exited()).code, 0)
})
