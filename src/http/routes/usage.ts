// The usage endpoints: daily rows per instance, monthly rows per owner tag.

import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { usageCounters } from '../../core/usage.ts'
import type { UsageCounter } from '../../core/usage.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import type { Usage } from '../../ledger/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import { dayRange, monthRange } from '../date-range.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, responses } from '../schemas.ts'

export type UsageDeps = { usage: Usage; roster: Pick<Roster, 'getCurrent'>; clock: Clock }

const counters = Object.fromEntries(usageCounters.map((name) => [name, Type.Integer()])) as Record<
  UsageCounter,
  ReturnType<typeof Type.Integer>
>
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'a day as YYYY-MM-DD (UTC)' })
const Month = Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'a month as YYYY-MM' })
const rangeOf = <T extends TSchema>(unit: T) => Type.Object({ from: Type.Optional(unit), to: Type.Optional(unit) })

const DailyRow = Type.Object({ instance: Type.String(), day: Type.String(), ...counters }, { title: 'UsageRow' })
const MonthlyRow = Type.Object(
  { owner_tag: Type.String(), month: Type.String(), ...counters, active_instances: Type.Integer() },
  { title: 'UsageSummaryRow' },
)
const Daily = Type.Object({ from: Type.String(), to: Type.String(), rows: Type.Array(DailyRow) })
const DailyOfInstance = Type.Object({ instance: Type.String(), ...Daily.properties })
const Monthly = Type.Object({ from: Type.String(), to: Type.String(), rows: Type.Array(MonthlyRow) })

export function addUsageRoutes(app: HttpApp, { usage, roster, clock }: UsageDeps): void {
  const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['observability'] })
  app.get(
    '/api/instances/:name/usage',
    {
      schema: {
        ...about('getInstanceUsage', 'Daily usage of one instance, the last 30 days unless stated'),
        params: InstanceParams,
        querystring: rangeOf(Day),
        response: responses({ 200: DailyOfInstance }, 404),
      },
    },
    async ({ params: { name }, query }) => {
      await roster.getCurrent(name)
      const range = dayRange(query, clock.now())
      return { instance: name, ...range, rows: await usage.daily(range, name) }
    },
  )
  app.get(
    '/api/usage',
    {
      schema: {
        ...about('getUsage', 'Daily usage of all instances, the last 30 days unless stated'),
        querystring: rangeOf(Day),
        response: { 200: Daily },
      },
    },
    async ({ query }): Promise<Static<typeof Daily>> => {
      const range = dayRange(query, clock.now())
      return { ...range, rows: await usage.daily(range) }
    },
  )
  app.get(
    '/api/usage/summary',
    {
      schema: {
        ...about('getUsageSummary', 'Monthly usage per owner tag, the last 3 calendar months unless stated'),
        querystring: rangeOf(Month),
        response: { 200: Monthly },
      },
    },
    async ({ query }) => {
      const range = monthRange(query, clock.now())
      return { ...range, rows: await usage.monthly(range) }
    },
  )
}
