// Reads request bodies: JSON for routes that take one, the bytes of a form with files, nothing for the others.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BridgeError } from '../core/errors.ts'

// Deeper input than this can make JSON.stringify and validation overflow the stack.
const maxDepth = 64
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** `check` throws when the bytes are not those that were meant. It comes before all else. */
export function addBodyParser(app: FastifyInstance, check: (request: FastifyRequest, body: Buffer) => void): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      check(request, body)
      if (request.routeOptions.config.rawBody) {
        done(null, body)
        return
      }
      if (!takesBody(request)) {
        done(null, undefined)
        return
      }
      refuseOtherMedia(request)
      if (request.routeOptions.config.form) {
        done(null, body)
        return
      }
      const text = decodeUtf8(body)
      refuseDeepNesting(text)
      void parse(request, text, done)
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Routes without a body ignore the content type of a request, even an invalid one. */
export function forgetContentType(request: FastifyRequest): void {
  if (request.routeOptions.config.rawBody) request.headers['content-type'] = 'application/octet-stream'
  else if (!takesBody(request)) delete request.headers['content-type']
}

function decodeUtf8(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not valid UTF-8', { cause })
  }
}

function takesBody(request: FastifyRequest): boolean {
  const { schema, config } = request.routeOptions
  return schema?.body !== undefined || config.form !== undefined
}

function refuseOtherMedia(request: FastifyRequest): void {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (request.routeOptions.config.form) {
    if (type === 'multipart/form-data') return
    throw new BridgeError('SERVICE_UNSUPPORTED_MEDIA_TYPE', 'send the body as a form with "multipart/form-data"')
  }
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return
  throw new BridgeError('SERVICE_UNSUPPORTED_MEDIA_TYPE', 'send the body as JSON with "Content-Type: application/json"')
}

/** The body of a callback, whose bytes are signed. */
export function parseJson(raw: Buffer): unknown {
  try {
    const text = utf8.decode(raw)
    refuseDeepNesting(text)
    return JSON.parse(text)
  } catch (cause) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not valid JSON', { cause })
  }
}

// As codes: this runs over every character of every callback.
const codeOf = (character: string) => character.charCodeAt(0)
const [quote, backslash] = [codeOf('"'), codeOf('\\')]
const [openBrace, closeBrace, openBracket, closeBracket] = [codeOf('{'), codeOf('}'), codeOf('['), codeOf(']')]

/** One pass over the text, counting brackets outside of strings. */
export function refuseDeepNesting(text: string): void {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash && inString) at++
    else if (code === quote) inString = !inString
    else if (inString) continue
    else if (code === openBrace || code === openBracket) depth++
    else if (code === closeBrace || code === closeBracket) depth--
    if (depth > maxDepth) {
      throw new BridgeError('SERVICE_BAD_REQUEST', `the body is nested deeper than ${maxDepth} levels`)
    }
  }
}
