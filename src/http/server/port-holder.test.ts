import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { findPortHolder } from './port-holder.ts'

const health = JSON.stringify({ status: 'ok', version: '1.2.3', checks: { ownership: 'held' } })

for (const host of ['127.0.0.1', '0.0.0.0', 'localhost']) {
  test(`a Causeway that listens on ${host} is found`, async () => {
    await using server = await LoopbackServer.start((_request, response) => response.end(health), { host })
    assert.deepEqual(await findPortHolder({ host, port: server.port }), { version: '1.2.3' })
  })
}

const others: [what: string, answer: string][] = [
  ['that answers with HTML', '<h1>Hello</h1>'],
  ['with a health of its own', JSON.stringify({ status: 'ok', version: '1.2.3' })],
  ['that answers null', 'null'],
  ['that answers without an end', `{"a":"${'x'.repeat(200_000)}"}`],
]

for (const [what, answer] of others) {
  test(`a program ${what} is not taken for a Causeway`, async () => {
    await using server = await LoopbackServer.start((_request, response) => response.end(answer), { host: '127.0.0.1' })
    assert.equal(await findPortHolder({ host: '127.0.0.1', port: server.port }), undefined)
  })
}

test('a program that does not answer is not waited for', async () => {
  await using server = await LoopbackServer.start(() => undefined, { host: '127.0.0.1' })
  assert.equal(await findPortHolder({ host: '127.0.0.1', port: server.port }), undefined)
})
