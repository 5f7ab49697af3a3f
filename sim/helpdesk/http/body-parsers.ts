// Reads request bodies as Rails does: JSON, forms and multipart all become one nested object.

import type { HttpApp } from './http-app.ts'
import type { Office } from './office.ts'
import { parseMultipart } from './parse-multipart.ts'

/** Rails answers an unreadable body with 400 and an empty body. */
export class UnreadableBody extends Error {
  readonly statusCode = 400
}

type Nested = Record<string, unknown>

export function addBodyParsers(app: HttpApp, { desk }: Office): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body: string, done) => {
    try {
      done(null, body === '' ? {} : parseJson(body))
    } catch (error) {
      done(new UnreadableBody('the body is no JSON', { cause: error }))
    }
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body: string, done) => {
    done(null, nest([...new URLSearchParams(body)]))
  })
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      const { extendedFileNames } = desk.features
      done(null, nest(parseMultipart(request.headers['content-type'] ?? '', body, extendedFileNames)))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => {
    done(null, {})
  })
}

/** PostgreSQL and Rails refuse half of a surrogate pair, which JavaScript accepts. */
function parseJson(body: string): unknown {
  const isSuspicious = /\\u[dD][89a-fA-F]/.test(body)
  return isSuspicious ? (JSON.parse(body, refuseHalfPairs) as unknown) : (JSON.parse(body) as unknown)
}

function refuseHalfPairs(_: string, value: unknown): unknown {
  if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('half of a surrogate pair')
  return value
}

/** `a[b]` becomes a key in an object, `a[]` an item of a list. */
function nest(fields: readonly [string, unknown][]): Nested {
  const result: Nested = {}
  for (const [name, value] of fields) {
    const [first = '', ...rest] = name.split('[').map((part) => part.replace(/\]$/, ''))
    put(result, first, rest, value)
  }
  return result
}

function put(into: Nested, key: string, rest: readonly string[], value: unknown): void {
  const [next, ...further] = rest
  if (next === undefined) {
    into[key] = value
  } else if (next === '') {
    into[key] = [...((into[key] as unknown[] | undefined) ?? []), value]
  } else {
    const inner = (into[key] as Nested | undefined) ?? {}
    into[key] = inner
    put(inner, next, further, value)
  }
}
