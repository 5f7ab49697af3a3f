// A test of a helpdesk may reach a server that is no Chatwoot, or a hostile one.

import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { describe, test } from 'node:test'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { Service } from '../../harness/service.ts'
import { checkOf } from '../../harness/setup-report.ts'
import type { SetupReport } from '../../harness/setup-report.ts'
import { perNode } from '../../harness/stranger.ts'

const token = 'the token of the tenant'

/** A service with a tenant at this server. */
async function setUp(listener: RequestListener) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await LoopbackServer.start(listener))
  const service = stack.use(await Service.start())
  const body = { downstream_base_url: server.url('127.0.0.1', ''), downstream_api_token: token }
  await service.request('PUT', '/api/tenants/acme', { body })
  const ask = async () => {
    const { status, text, body: report } = await service.request('POST', '/api/tenants/acme/test')
    assert.equal(status, 200, text)
    return { report: report as SetupReport, text }
  }
  const owned = stack.move()
  return { service, ask, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const answerJson =
  (value: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  }

describe('the test of a server that is no Chatwoot', { concurrency: 2 }, () => {
  test('keeps only the beginning of a version that is very long', { skip: perNode }, async () => {
    await using stage = await setUp(answerJson({ version: `4.14.1${'x'.repeat(1_000_000)}` }))
    const { text } = await stage.ask()
    assert.ok(text.length < 10_000, `${text.length}`)
    const [listed] = (await stage.service.get('/api/destinations')).body as { version: string }[]
    assert.equal(listed?.version.length, 100)
  })

  test('follows no redirect, so the token goes nowhere else', async () => {
    const seen: string[] = []
    await using elsewhere = await LoopbackServer.start((request, response) => {
      seen.push(String(request.headers['api-access-token']))
      response.end()
    })
    const target = elsewhere.url('127.0.0.1', '/')
    await using stage = await setUp((_request, response) => {
      response.writeHead(302, { location: target }).end()
    })
    const { report } = await stage.ask()
    assert.match(checkOf(report, 'helpdesk_reachable').sentence, /redirects to .*: set that as the base URL/)
    assert.deepEqual(seen, [])
  })

  test('ends when the answer is larger than any of a Chatwoot', async () => {
    await using stage = await setUp((_request, response) => {
      const piece = Buffer.alloc(1024 * 1024, ' ')
      const write = () => {
        while (!response.destroyed && response.write(piece)) continue
      }
      response.on('drain', write)
      write()
    })
    const { report } = await stage.ask()
    assert.equal(checkOf(report, 'helpdesk_reachable').result, 'broken')
  })
})
