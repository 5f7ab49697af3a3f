import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { CliError, exitCodes } from '../../cli/cli-error.ts'
import { ServiceClient } from '../../cli/service-client.ts'

type Answered = { status: number; headers: Record<string, string>; text: string }

/** A client of a server that always gives this answer. */
async function setUp({ status, headers, text }: Answered) {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(text)).listen(0)
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new ServiceClient({ url, token: '', signal: new AbortController().signal, timeoutMs: 10_000 })
  const close = async () => {
    await client[Symbol.asyncDispose]()
    server.close()
  }
  return { client, [Symbol.asyncDispose]: close }
}

const refusedWith = (sentence: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CliError, String(error))
  assert.match(error.message, sentence)
  assert.equal(error.exitCode, exitCodes.unasked)
  return true
}

test('an answer that is no JSON does not come from the service, with any status', async () => {
  const answers = [
    { status: 200, headers: { 'content-type': 'text/html' }, text: '<html></html>' },
    { status: 404, headers: { 'content-type': 'text/html' }, text: '<html></html>' },
    { status: 200, headers: { 'content-type': 'application/json' }, text: '<html></html>' },
    { status: 200, headers: {}, text: '' },
  ]
  for (const answer of answers) {
    await using stage = await setUp(answer)
    await assert.rejects(stage.client.expect('GET', '/api/instances'), refusedWith(/is not this service: .* --url/))
  }
})

test('an address that leads elsewhere is named', async () => {
  const headers = { 'content-type': 'text/html', location: 'https://bridge.example/api/instances' }
  await using stage = await setUp({ status: 301, headers, text: '' })
  const sentence = /leads to https:\/\/bridge\.example: name that address with --url\.$/
  await assert.rejects(stage.client.ask('GET', '/api/instances'), refusedWith(sentence))
})

test('a QR code is text', async () => {
  const code = { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, text: '2@abc' }
  await using stage = await setUp(code)
  assert.equal(await stage.client.askText('/qr'), '2@abc')
  const none = { status: 404, headers: { 'content-type': 'application/json' }, text: '{}' }
  await using empty = await setUp(none)
  assert.equal(await empty.client.askText('/qr'), undefined)
})
