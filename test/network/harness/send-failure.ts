// The error of a message that was not sent.

import assert from 'node:assert/strict'
import { SendError } from '../../../src/core/network.ts'

export async function failure(sending: Promise<unknown>): Promise<SendError> {
  const error = await sending.then(
    () => assert.fail('the message was sent'),
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof SendError, String(error))
  return error
}
