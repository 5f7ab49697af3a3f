// GET /api/support-bundle: everything that helps to find a fault, in one file that can be passed on.
//
// It has no message texts, no tokens, no names of customers and no whole phone numbers.

import { arch, availableParallelism, freemem, platform, release, totalmem } from 'node:os'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { JobDeps } from '../jobs.ts'
import type { Metrics } from '../../../ledger/metrics.ts'
import type { Clock } from '../../../lib/clock.ts'
import { maskAllNumbers, maskNumbers } from '../../../lib/text/mask-numbers.ts'
import type { HttpApp } from '../../http-app.ts'
import { toJobBody } from '../../jobs/job-view.ts'
import { toTimestamp } from '../../schemas.ts'
import type { AuditDeps } from '../audit.ts'
import { createHealthReader } from '../health.ts'
import type { HealthDeps } from '../health.ts'
import { readOverview } from '../observe/overview.ts'
import type { OverviewDeps } from '../observe/overview.ts'
import type { StatesDeps } from '../observe/states.ts'
import { listSettings, readVersions } from './settings.ts'
import type { SettingsDeps } from './settings.ts'
import { readWarnings } from './warnings.ts'
import type { WarningDeps } from './warnings.ts'

export type BundleDeps = {
  clock: Pick<Clock, 'now'>
  health: HealthDeps
  overview: OverviewDeps
  metrics: Pick<Metrics, 'exposition'>
  jobs: Pick<JobDeps['jobs'], 'list'>
  states: StatesDeps['states']
  audit: AuditDeps['audit']
  settings: SettingsDeps
  warnings: WarningDeps
}

const auditEntries = 200
const statesMs = 24 * 3_600_000
const part = (description: string) => Type.Unsafe<unknown>({ description })

const Bundle = Type.Object(
  {
    made_at: Type.String(),
    versions: part('As GET /api/settings shows them'),
    platform: part('The machine and the process'),
    settings: part('As GET /api/settings shows them'),
    health: part('As GET /api/health shows it, without jids'),
    overview: part('As GET /api/overview shows it, without phones'),
    metrics: part('As GET /metrics shows them, without numbers in the names of instances'),
    warnings: part('As GET /api/warnings shows them'),
    jobs: part('As GET /api/jobs shows them, without results'),
    states: part('The states of the last 24 hours, of each instance'),
    audit: part(`The last ${auditEntries} entries`),
    setup: part('Checks of the set-up that fail'),
  },
  {
    title: 'SupportBundle',
    description: 'A part that could not be read is an object with error, and the other parts are there all the same',
  },
)

export function addSupportBundleRoute(app: HttpApp, deps: BundleDeps): void {
  const readers = partReaders(deps)
  app.get(
    '/api/support-bundle',
    {
      schema: {
        operationId: 'getSupportBundle',
        tags: ['operations'],
        summary: 'Everything that helps to find a fault, as one JSON file to pass on',
        description:
          'Without message texts, tokens, names and numbers of customers. Of every number with seven digits or more the ' +
          'last two digits are shown.',
        response: { 200: Bundle },
      },
    },
    async (request, reply) => {
      const made_at = toTimestamp(deps.clock.now())
      const parts = Object.entries(readers).map(async ([name, read]) => {
        try {
          return [name, await read()]
        } catch (err) {
          // A bundle is needed most when something is broken, for example the database.
          request.log.warn({ err, part: name }, 'a part of the support bundle could not be read')
          return [name, { error: 'this part could not be read: the log says why' }]
        }
      })
      const file = `causeway-support-${made_at.replace(/[:.]/g, '-')}.json`
      reply.header('content-disposition', `attachment; filename="${file}"`).type('application/json; charset=utf-8')
      const bundle = { made_at, ...Object.fromEntries(await Promise.all(parts)) } as Static<typeof Bundle>
      // People read the file before they pass it on.
      return reply.serializer((whole: unknown) => JSON.stringify(whole, null, 2)).send(bundle)
    },
  )
}

/** Each reader gives a part without numbers of people. Versions have none: a client version would look like one. */
function partReaders(deps: BundleDeps): Record<string, () => unknown> {
  const readHealth = createHealthReader(deps.health)
  const masked = (read: () => unknown) => async () => maskAllNumbers(await read())
  return {
    versions: () => readVersions(deps.settings),
    platform: readPlatform,
    settings: () => listSettings(deps.settings),
    health: masked(async () => {
      await deps.health.roster.freshen()
      const { instances, ...rest } = readHealth()
      return { ...rest, instances: instances.map(({ name, state }) => ({ name, state })) }
    }),
    overview: masked(async () => {
      const { instances, ...rest } = await readOverview(deps.overview)
      return { ...rest, instances: instances.map((row) => ({ ...row, phone: undefined })) }
    }),
    metrics: async () => maskLabels(await deps.metrics.exposition()),
    warnings: masked(() => readWarnings(deps.warnings)),
    jobs: masked(async () => (await deps.jobs.list()).map((job) => ({ ...toJobBody(job), result: undefined }))),
    states: masked(() => readStates(deps)),
    audit: masked(async () => {
      const entries = await deps.audit.list({ limit: auditEntries })
      return entries.map(({ at, ...entry }) => ({ ...entry, ts: toTimestamp(at) }))
    }),
    setup: masked(() => deps.health.setup.list().map((each) => ({ ...each, since: toTimestamp(each.since) }))),
  }
}

/** A list: two instances whose names are numbers may look the same when they are masked. */
async function readStates({ overview, states, clock }: BundleDeps): Promise<unknown[]> {
  const from = clock.now() - statesMs
  const all: unknown[] = []
  for (const { record } of await overview.roster.current()) {
    const changes = await states.since(record.name, from)
    const shown = changes.map(({ at, state, reason }) => ({ at: toTimestamp(at), state, reason }))
    all.push({ instance: record.name, states: shown })
  }
  return all
}

/** An instance may have the name of its number. The values of the metrics stay. */
function maskLabels(metrics: string): string {
  return metrics.replace(/\b(?:instance|owner_tag)="(?:[^"\\]|\\.)*"/g, maskNumbers)
}

function readPlatform() {
  return {
    ...{ platform: platform(), release: release(), arch: arch(), cpus: availableParallelism() },
    ...{ memory_bytes: totalmem(), free_memory_bytes: freemem() },
    ...{ process_memory: process.memoryUsage(), process_uptime_seconds: Math.floor(process.uptime()) },
  }
}
