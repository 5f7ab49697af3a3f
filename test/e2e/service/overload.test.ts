// Runs alone: it keeps the event loop of its process busy.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { Service } from '../../harness/service.ts'
import type { Answer } from '../../harness/http-request.ts'

describe('a client that dawdles', { concurrency: true }, () => {
  const cases = {
    'over its headers': 'GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ',
    'over its body':
      'PUT /api/tenants/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
  }
  for (const [how, start] of Object.entries(cases)) {
    test(`${how} is cut off with 408`, async () => {
      await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
      const { port } = new URL(service.url)
      const answer = await new Promise<string>((resolve, reject) => {
        let text = ''
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(start))
        // Something every second: a timeout that starts anew with each byte would never end this.
        const drip = setInterval(() => socket.write('x'), 1000)
        socket.on('data', (chunk) => (text += chunk.toString()))
        socket.on('error', reject)
        socket.on('close', () => {
          clearInterval(drip)
          resolve(text)
        })
      })
      assert.match(answer, /^HTTP\/1\.1 408 /)
      assert.match(answer, /"error_code":"SERVICE_REQUEST_TIMEOUT"/)
    })
  }
})

test('while every turn of the event loop takes long, requests are refused but health and metrics answer', async () => {
  await using service = await Service.start()
  const busy = setInterval(() => {
    const until = performance.now() + 1200
    while (performance.now() < until);
  }, 0)
  let answer: Answer
  try {
    do answer = await service.get('/api/tenants')
    while (answer.status === 200)
    assert.equal((await service.get('/api/health')).status, 200)
    assert.equal((await service.get('/metrics')).status, 200)
  } finally {
    clearInterval(busy)
  }
  assertRefused(answer, 'SERVICE_OVERLOADED')
  assert.deepEqual(service.logs.withMessage('request failed'), [])
})
