// The only translator from errors to HTTP answers: always the error object, never an internal detail.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError, statusOfCode } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import type { StorageFailure } from '../../storage/engine/statement.ts'
import { echoTraceIds } from './request-context.ts'

export type ErrorObject = { error: string; error_code: ErrorCode }

type Validation = NonNullable<FastifyError['validation']>[number] & {
  parentSchema?: { description?: string; properties?: object }
}

const refused = 'the database did not take the request; nothing was changed'
const storageSentences: Record<StorageFailure, string> = {
  failed: refused,
  constraint: refused,
  expectation: refused,
  undone: refused,
  // The answer may have been lost after the commit.
  unavailable: 'the database did not answer; look whether a change was made before you repeat it',
}

/** The codes of refusals by Fastify itself, by their status. */
const codeOfStatus: Record<number, ErrorCode> = {
  408: 'SERVICE_REQUEST_TIMEOUT',
  413: 'SERVICE_BODY_TOO_LARGE',
  415: 'SERVICE_UNSUPPORTED_MEDIA_TYPE',
  429: 'SERVICE_RATE_LIMITED',
}

/** Temporary refusals: their request line is enough, an operator need not look into them. */
const passing: readonly ErrorCode[] = [
  ...(['SERVICE_STARTING', 'SERVICE_STANDBY', 'SERVICE_OVERLOADED', 'SERVICE_STOPPING'] as const),
  // A dashboard that finds no place asks again every few seconds.
  'SERVICE_TOO_MANY_LISTENERS',
  // The line that says why the owner did not answer is written already.
  ...(['SERVICE_NO_OWNER', 'SERVICE_NODE_SILENT'] as const),
]

/** After how many seconds a caller may repeat a request that was refused for the moment. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  SERVICE_STARTING: 1,
  SERVICE_OVERLOADED: 5,
  SERVICE_STOPPING: 5,
  SERVICE_TOO_MANY_LISTENERS: 5,
  SERVICE_NO_OWNER: 1,
}

export function replyWithError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const { code, message } = describe(error)
  const status = statusOfCode[code]
  if (status >= 500 && !passing.includes(code))
    request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
  const named = error instanceof BridgeError ? error.retryAfterSeconds : undefined
  const retryAfter = named ?? retryAfterSeconds[code]
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  void reply.code(status).send({ error: message, error_code: code } satisfies ErrorObject)
}

/** Answers refusals of the router, which come before the hooks. */
export function replyWithRouterError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  echoTraceIds(request, reply)
  const tooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
  const sentence = tooLong ? 'a part of the path is too long' : 'the path is not a valid one: check its percent escapes'
  const known = tooLong || error.code === 'FST_ERR_BAD_URL'
  replyWithError(known ? new BridgeError('SERVICE_BAD_REQUEST', sentence) : error, request, reply)
}

export function unknownRoute(): BridgeError {
  return new BridgeError('SERVICE_ROUTE_NOT_FOUND', 'there is no such route; /static/reference.html lists them')
}

function describe(error: FastifyError | Error): { code: ErrorCode; message: string } {
  if (error instanceof BridgeError) return { code: error.code, message: error.message }
  // The instance has left while the request was worked on.
  if (error instanceof NotHeldError) {
    return { code: 'SERVICE_NO_OWNER', message: 'the instance moves to another node; try again' }
  }
  if (error instanceof StorageError) {
    return { code: 'SERVICE_STORAGE_FAILED', message: storageSentences[error.failure] }
  }
  // Of several failures the caller is told the first; the log has all of them.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return describe(error.errors[0])
  const [invalid] = ('validation' in error && error.validation) || []
  if (invalid) {
    return { code: 'SERVICE_BAD_REQUEST', message: sentenceFor(invalid, (error as FastifyError).validationContext) }
  }
  const status = ('statusCode' in error && error.statusCode) || 500
  if (status < 500) return { code: codeOfStatus[status] ?? 'SERVICE_BAD_REQUEST', message: error.message }
  return { code: 'SERVICE_INTERNAL', message: 'the service failed on this request; its log says why' }
}

function sentenceFor(invalid: Validation, context = 'request'): string {
  const { instancePath, keyword, message, params, parentSchema } = invalid
  const field = instancePath.slice(1).replaceAll('/', '.')
  const subject = field === '' ? `the ${context}` : field
  if (keyword === 'pattern' && parentSchema?.description) return `${subject} is not ${parentSchema.description}`
  const { allowedValues, additionalProperty } = params
  if (Array.isArray(allowedValues)) return `${subject} must be one of: ${allowedValues.map(String).join(', ')}`
  if (typeof additionalProperty === 'string') {
    const known = Object.keys(parentSchema?.properties ?? {}).join(', ')
    return `${subject} has the unknown field ${JSON.stringify(beginningOf(additionalProperty, 64))}; it takes: ${known}`
  }
  return `${subject} ${message ?? 'is not valid'}`
}
