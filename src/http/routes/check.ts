// Checks the set-up of an instance, and says what is wrong and what to do.

import { Type } from 'typebox'
import type { Finding } from '../../setup/checks/finding.ts'
import { checkNames } from '../../setup/checks/finding.ts'
import type { SetupChecks } from '../../setup/checks/setup-checks.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, nullable, responses } from '../schemas.ts'

export type CheckDeps = { checks: Pick<SetupChecks, 'check' | 'checkWithRoundTrip'> }

export const Check = Type.Object(
  {
    name: Type.String({ description: checkNames.join(', ') }),
    ok: Type.Boolean({ description: 'false: there is a cure' }),
    result: Type.String({
      description:
        'ok; advice: messages flow, but something is missing; broken: messages do not flow, or strangers can use the API; untested: the sentence says why',
    }),
    sentence: Type.String({ description: 'What was found' }),
    cure: nullable(Type.String({ description: 'What to do' })),
  },
  { title: 'SetupCheck' },
)
const Report = Type.Object(
  { ok: Type.Boolean({ description: 'No check is broken' }), checks: Type.Array(Check) },
  { title: 'SetupReport' },
)

const about = (operationId: string, summary: string, description: string) => ({
  ...{ operationId, summary, description },
  tags: ['instances'],
})

export function addCheckRoutes(app: HttpApp, { checks }: CheckDeps): void {
  const common = { params: InstanceParams, response: responses({ 200: Report }, 404) }
  app.get(
    '/api/instances/:name/check',
    {
      schema: {
        ...about(
          'checkInstance',
          'What is wrong with the set-up, and what to do',
          'Changes nothing, also not at Chatwoot. It shows round_trip only if callbacks are known to be lost or refused.',
        ),
        ...common,
      },
    },
    async ({ params }) => toReport(await checks.check(params.name)),
  )
  app.post(
    '/api/instances/:name/check',
    {
      schema: {
        ...about(
          'checkInstanceRoundTrip',
          'The same check, and whether the callbacks of Chatwoot arrive',
          'The operations contact of the instance types in its conversation, and Chatwoot must call the service within 5 s. If it does not, a note is posted in that conversation: Chatwoot marks it as failed and says why. Takes up to 20 s.',
        ),
        ...common,
      },
    },
    async ({ params }) => toReport(await checks.checkWithRoundTrip(params.name)),
  )
}

export function toReport(findings: readonly Finding[]) {
  const checks = findings.map(({ name, result, sentence, cure }) => {
    return { name, ok: result === 'ok' || result === 'untested', result, sentence, cure }
  })
  return { ok: findings.every(({ result }) => result !== 'broken'), checks }
}
