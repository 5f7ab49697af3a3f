import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import type { FastifyBaseLogger } from 'fastify'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { StartError } from '../../lib/start-error.ts'
import type { HttpApp } from '../http-app.ts'
import { explainListenFailure } from './explain-listen.ts'
import { listen } from './listener.ts'

function newApp(): HttpApp {
  const loggerInstance: FastifyBaseLogger = silentLog
  return fastify({ loggerInstance })
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

test('a port that another program holds is named', async () => {
  await using other = await LoopbackServer.start(undefined, { host: '127.0.0.1' })
  const message = `PORT=${other.port} on 127.0.0.1 is taken by another program: stop it or set PORT`
  await assert.rejects(listen(newApp(), { host: '127.0.0.1', port: other.port }), { name: 'StartError', message })
})

test('an address of another machine is named', async () => {
  const cure = 'set HOST to one of its addresses, or to 0.0.0.0 for all of them'
  const message = `HOST=192.0.2.1 is no address of this machine: ${cure}`
  await assert.rejects(listen(newApp(), { host: '192.0.2.1', port: 0 }), { name: 'StartError', message })
})

test('a host without an address is named', async () => {
  const cure = 'set HOST to an address of this machine, or to 0.0.0.0 for all of them'
  const message = `HOST=nowhere.invalid is no known name: ${cure}`
  await assert.rejects(listen(newApp(), { host: 'nowhere.invalid', port: 0 }), { name: 'StartError', message })
})

const where = { host: '::1', port: 3100 }

test('an IPv6 address on a machine without IPv6 is named', async () => {
  const explained = await explainListenFailure(where, failure('EAFNOSUPPORT'))
  const sentence = 'HOST=::1 is an IPv6 address and this machine has no IPv6: set HOST to 0.0.0.0'
  assert.equal(explained?.message, sentence)
})

test('a forbidden port that is not below 1024 is named', async () => {
  const explained = await explainListenFailure(where, failure('EACCES'))
  assert.ok(explained instanceof StartError)
  assert.match(explained.message, /^PORT=3100 is not allowed for user \S+: set another PORT$/)
})

test('another failure has no sentence', async () => {
  assert.equal(await explainListenFailure(where, failure('EMFILE')), undefined)
})
