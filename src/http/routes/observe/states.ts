// GET /api/instances/:name/states: how the state of an instance changed during the last hours.

import { Type } from 'typebox'
import type { Roster } from '../../../instances/roster/roster.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { StateHistory } from '../../../live/state-history.ts'
import type { HttpApp } from '../../http-app.ts'
import { State } from '../../instance-view.ts'
import { InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../../schemas.ts'

export type StatesDeps = {
  roster: Pick<Roster, 'getCurrent'>
  states: Pick<StateHistory, 'since'>
  clock: Pick<Clock, 'now'>
}

const hourMs = 3_600_000
const defaultHours = 24

const Query = Type.Object({
  hours: Type.Optional(
    Type.String({ pattern: '^0*([1-9]|[1-3]\\d|4[0-8])$', description: 'a whole number from 1 to 48; 24 without it' }),
  ),
})

const States = Type.Object(
  {
    instance: Type.String(),
    from: Timestamp,
    to: Timestamp,
    states: Type.Array(
      Type.Object({
        at: Timestamp,
        state: State,
        reason: nullable(Type.String({ description: 'Why the state changed; null when it is not known' })),
      }),
    ),
  },
  { title: 'StateHistory' },
)

export function addStatesRoute(app: HttpApp, { roster, states, clock }: StatesDeps): void {
  app.get(
    '/api/instances/:name/states',
    {
      schema: {
        operationId: 'listStates',
        tags: ['observability'],
        summary: 'How the state of an instance changed during the last hours',
        description:
          'The state at the beginning comes first, if it is known, then every change. Attempts of an account that fails ' +
          'again and again for the same reason are left out. Changes are kept for 48 hours. They are stored every ' +
          '5 seconds, so a crash loses those of the last seconds.',
        params: InstanceParams,
        querystring: Query,
        response: responses({ 200: States }, 404),
      },
    },
    async ({ params: { name }, query: { hours } }) => {
      const { record } = await roster.getCurrent(name)
      const now = clock.now()
      const from = now - Number(hours ?? defaultHours) * hourMs
      const changes = await states.since(name, from)
      // An instance that did not change since changes are stored: the time of its last change is in its record.
      const known =
        changes.length > 0
          ? changes
          : [{ at: record.lastEventAt ?? record.createdAt, state: record.state, reason: null }]
      return {
        instance: name,
        from: toTimestamp(from),
        to: toTimestamp(now),
        states: known.map(({ at, state, reason }) => ({ at: toTimestamp(Math.max(at, from)), state, reason })),
      }
    },
  )
}
