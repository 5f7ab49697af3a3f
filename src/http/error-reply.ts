// The only translator from errors to HTTP answers: always the error object, never an internal detail.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError, statusOfCode } from '../core/errors.ts'
import type { ErrorCode } from '../core/errors.ts'
import { StorageError } from '../storage/statement.ts'

export type ErrorObject = { error: string; error_code: ErrorCode }

type Validation = NonNullable<FastifyError['validation']>[number] & { parentSchema?: { description?: string } }

/** What Fastify itself refuses, by the status it chose. */
const codeOfStatus: Record<number, ErrorCode> = {
  403: 'SERVICE_ROUTE_NOT_FOUND',
  404: 'SERVICE_ROUTE_NOT_FOUND',
  408: 'SERVICE_REQUEST_TIMEOUT',
  413: 'SERVICE_BODY_TOO_LARGE',
  415: 'SERVICE_UNSUPPORTED_MEDIA_TYPE',
  429: 'SERVICE_RATE_LIMITED',
}

export function replyWithError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const { code, message } = describe(error)
  const status = statusOfCode[code]
  if (status >= 500) request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
  void reply.code(status).send({ error: message, error_code: code } satisfies ErrorObject)
}

function describe(error: FastifyError | Error): { code: ErrorCode; message: string } {
  if (error instanceof BridgeError) return { code: error.code, message: error.message }
  if (error instanceof StorageError) {
    return { code: 'SERVICE_STORAGE_FAILED', message: 'the database did not take the request; nothing was changed' }
  }
  const [invalid] = ('validation' in error && error.validation) || []
  if (invalid) {
    return { code: 'SERVICE_BAD_REQUEST', message: sentenceFor(invalid, (error as FastifyError).validationContext) }
  }
  const status = ('statusCode' in error && error.statusCode) || 500
  if (status < 500) return { code: codeOfStatus[status] ?? 'SERVICE_BAD_REQUEST', message: error.message }
  return { code: 'SERVICE_INTERNAL', message: 'the service failed on this request; its log says why' }
}

function sentenceFor({ instancePath, keyword, message, parentSchema }: Validation, context = 'request'): string {
  const field = instancePath.slice(1).replaceAll('/', '.')
  const subject = field === '' ? `the ${context}` : field
  if (keyword === 'pattern' && parentSchema?.description) return `${subject} is not ${parentSchema.description}`
  return `${subject} ${message ?? 'is not valid'}`
}
