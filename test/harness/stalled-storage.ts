// Keeps the service from writing for a while, as a slow disk or another client of the database does.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { Bystander } from './postgres-bystander.ts'

export async function stallStorage(location: DatabaseLocation, ms: number): Promise<void> {
  if (location.engine === 'postgres') {
    await using bystander = await Bystander.connect(location)
    await bystander.lock('outbox')
    await pause(ms)
    await bystander.unlock()
    return
  }
  using database = new DatabaseSync(location.path, { timeout: 5000 })
  database.exec('BEGIN IMMEDIATE')
  await pause(ms)
  database.exec('ROLLBACK')
}
