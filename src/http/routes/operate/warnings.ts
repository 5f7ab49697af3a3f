// GET /api/warnings: the last warnings of the log, from memory.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { LoggedWarning } from '../../../lib/log-tap.ts'
import { maskAllNumbers, maskNumbers } from '../../../lib/text/mask-numbers.ts'
import type { HttpApp } from '../../http-app.ts'
import { nullable, Timestamp } from '../../schemas.ts'

export type WarningDeps = { recentWarnings: () => LoggedWarning[] }

const most = 200

const Query = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: '^0*([1-9]\\d?|1\\d\\d|200)$',
      description: `a whole number from 1 to ${most}; ${most} without it`,
    }),
  ),
})

const Warning = Type.Object(
  {
    ts: Timestamp,
    level: Type.Unsafe<LoggedWarning['level']>({ type: 'string', enum: ['warn', 'error'] }),
    message: Type.String(),
    instance: nullable(Type.String({ description: 'The instance that the line is about' })),
    details: Type.Object({}, { additionalProperties: true, description: 'The other fields of the line' }),
  },
  { title: 'Warning' },
)

export function addWarningsRoute(app: HttpApp, deps: WarningDeps): void {
  app.get(
    '/api/warnings',
    {
      schema: {
        operationId: 'listWarnings',
        tags: ['operations'],
        summary: 'The last warnings and errors of the log, newest first',
        description:
          `The last ${most} lines of level warn or error of this process, without secrets. Of numbers with seven ` +
          'digits or more the last two digits are shown. Lines below LOG_LEVEL are not kept.',
        querystring: Query,
        response: { 200: Type.Object({ warnings: Type.Array(Warning) }) },
      },
    },
    ({ query }) => ({ warnings: readWarnings(deps).slice(0, Number(query.limit ?? most)) }),
  )
}

export function readWarnings({ recentWarnings }: WarningDeps): Static<typeof Warning>[] {
  return recentWarnings().map(({ ts, level, message, instance, details }) => ({
    ...{ ts, level, instance },
    message: maskNumbers(message),
    details: maskAllNumbers(details) as Record<string, unknown>,
  }))
}
