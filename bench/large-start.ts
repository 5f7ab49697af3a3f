// Starts the service on a large database, until it has accepted its first webhook. The network is away: all messages to WhatsApp
// wait, and no login of an account takes part in the time.

import type { DatabaseLocation } from '../src/core/database-location.ts'
import { takeOverRows, takeOverRowsOfLease } from '../src/storage/stores/take-over-rows.ts'
import { freePort } from '../test/harness/free-port.ts'
import { nodeHold } from '../test/harness/holds.ts'
import { ServiceProcess } from '../test/harness/service-process.ts'
import type { Stores } from '../test/storage/harness/all-stores.ts'
import { callbackBody } from './outbound-load.ts'

const place = { accountId: 1, inboxId: 7 }
const headers = { 'content-type': 'application/json' }

/** `instance` has room for one more message that waits. */
export async function measureStart(location: DatabaseLocation, instance: string): Promise<Record<string, number>> {
  const started = performance.now()
  await using service = new ServiceProcess({
    DATABASE_URL: location.engine === 'sqlite' ? `file:${location.path}` : location.url,
    SERVICE_NETWORK_URL: `ws://127.0.0.1:${await freePort()}`,
    DOWNSTREAM_BASE_URL: 'http://127.0.0.1:1',
    DOWNSTREAM_API_TOKEN: 'bench',
    DOWNSTREAM_ACCOUNT_ID: String(place.accountId),
    DOWNSTREAM_INBOX_ID: String(place.inboxId),
  })
  const url = await service.ready()
  const ready_ms = performance.now() - started
  const body = callbackBody('5511888880001@s.whatsapp.net', 'hello', place)
  const answer = await fetch(`${url}/api/instances/${instance}/webhook`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (!/"status":"(queued|sent)"/.test(text)) throw new Error(`the service answered ${answer.status}: ${text}`)
  return { ready_ms, accepted_ms: performance.now() - started }
}

/** The service may take the instances that the queries have written for. What only the first start of a build does is done. */
export async function releaseHolds({ database, leases }: Stores): Promise<void> {
  await takeOverRows(database, nodeHold())
  await leases.release('test', 1)
  if (database.engine === 'sqlite') return
  await database.write(
    { sql: 'UPDATE assignments SET node = NULL', parameters: [] },
    { sql: 'DELETE FROM nodes', parameters: [] },
  )
  await takeOverRowsOfLease(database, (await leases.retire()) ?? 0)
}
