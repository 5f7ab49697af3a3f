// Refuses requests with a text that cannot be stored: PostgreSQL takes no NUL, and half of a surrogate pair is no text.

import { BridgeError } from '../../core/errors.ts'
import type { HttpApp } from '../http-app.ts'

/** Runs after the schemas, whose sentences say more. Callbacks are read by `downstream`, which takes such texts. */
export function refuseOddTexts(app: HttpApp): void {
  app.addHook('preHandler', ({ params, query, body, routeOptions }, _reply, done) => {
    if (routeOptions.config.rawBody) {
      done()
      return
    }
    const odd = findOdd(params) ?? findOdd(query) ?? findOdd(body)
    done(
      odd &&
        new BridgeError('SERVICE_BAD_REQUEST', `${odd.join('.')} must not contain a NUL or half of a surrogate pair`),
    )
  })
}

/** The path to the first such text. The body parser limits the depth. */
function findOdd(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? [] : undefined
  // Bytes are no text.
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return undefined
  for (const [key, each] of Object.entries(value)) {
    const found = findOdd(each)
    if (found) return [key, ...found]
  }
  return undefined
}
