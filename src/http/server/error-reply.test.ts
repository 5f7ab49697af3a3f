import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { StorageError } from '../../storage/engine/statement.ts'
import { replyWithError } from './error-reply.ts'

test('of several failures the caller is told the first', async () => {
  await using app = fastify()
  app.setErrorHandler(replyWithError)
  app.delete('/', () => {
    throw new AggregateError([new StorageError('unavailable', 'storage is away'), new Error('another failure')])
  })
  const answer = await app.inject({ method: 'DELETE', url: '/' })
  assert.equal(answer.statusCode, 500)
  assert.equal(answer.json<{ error_code: string }>().error_code, 'SERVICE_STORAGE_FAILED')
})
