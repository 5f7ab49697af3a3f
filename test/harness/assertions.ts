// Assertions that many tests share.

import assert from 'node:assert/strict'
import { statusOfCode } from '../../src/core/errors.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { Answer } from './http-request.ts'

/** The answer is the error object with this code, its status, and a sentence that matches. */
export function assertRefused(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  code: ErrorCode,
  sentence: RegExp = /./,
): void {
  assert.deepEqual(Object.keys(body as object).sort(), ['error', 'error_code'], JSON.stringify(body))
  const { error, error_code } = body as { error: string; error_code: string }
  assert.deepEqual({ status, error_code }, { status: statusOfCode[code], error_code: code }, error)
  assert.match(error, sentence)
}
