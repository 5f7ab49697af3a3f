// The service between the simulated network and the simulated helpdesk, once on SQLite and once on PostgreSQL.

import { join } from 'node:path'
import { Child } from './child.ts'
import { serviceEnvironment } from './flow.ts'
import type { Facts, Way } from './flow.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, fillPostgres } from './instances-seed.ts'
import type { Credentials } from './instances-seed.ts'
import { BenchPostgres } from './postgres.ts'

export type ServiceWay = Exclude<Way, 'bare'>
export type Services = Record<ServiceWay, Child<OursDesk>>

type Options = {
  directory: string
  facts: Facts
  accounts: Record<ServiceWay, readonly Credentials[]>
  settings?: Record<string, string>
}

/** They go with the stack. They have not started yet. */
export async function openServices(
  stack: AsyncDisposableStack,
  { directory, facts, accounts, settings = {} }: Options,
): Promise<Services> {
  const file = join(directory, 'service.db')
  await fillDatabase(file, accounts.ours)
  const postgres = stack.use(await BenchPostgres.start())
  const url = await postgres.newDatabase()
  await fillPostgres(url, accounts.postgres)
  const open = (databaseUrl: string) =>
    stack.use(new Child<OursDesk>('./instances-ours.ts', { ...serviceEnvironment(facts, databaseUrl), ...settings }))
  return { ours: open(`file:${file}`), postgres: open(url) }
}
