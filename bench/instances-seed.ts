// Linked accounts without pairing them: as files for the bare library, as rows through the product's own store for ours.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLog } from '../src/lib/log.ts'
import { encodeKey } from '../src/network/account/key-codec.ts'
import { BufferJSON, Curve, jidNormalizedUser } from '../src/network/library/library.ts'
import type { AuthenticationCreds, SignalDataSet } from '../src/network/library/library.ts'
import { openDatabase } from '../src/storage/database.ts'
import type { Database } from '../src/storage/database.ts'
import { InstanceStore } from '../src/storage/stores/accounts/instance-store.ts'
import { LeaseStore } from '../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../src/storage/stores/accounts/session-key-store.ts'
import { blankInstance } from '../src/storage/stores/accounts/instance-rows.ts'
import type { InstanceChanges } from '../src/storage/stores/accounts/instance-rows.ts'
import { instanceName } from './flow.ts'
import { holdOf } from '../test/harness/holds.ts'
import { openOwnDatabase } from '../test/harness/lease-holds.ts'

export type Credentials = { creds: AuthenticationCreds; keys: SignalDataSet }

/** Published at a pairing; ready credentials of the simulator come with 30. */
export const preKeysOfPairing = 812
const made = new Map<number, ReturnType<typeof Curve.generateKeyPair>>()

/** The prekeys a pairing would have left behind. Making them is slow, so all accounts have the same ones. */
export function parseCredentials(text: string, preKeys: number): Credentials {
  const { creds, keys } = JSON.parse(text, BufferJSON.reviver) as Credentials
  const own = (keys['pre-key'] ??= {})
  for (let id = creds.nextPreKeyId; id <= preKeys; id++) {
    const pair = made.get(id) ?? Curve.generateKeyPair()
    made.set(id, pair)
    own[String(id)] = pair
  }
  const next = Math.max(creds.nextPreKeyId, preKeys + 1)
  return { creds: { ...creds, nextPreKeyId: next, firstUnuploadedPreKeyId: next }, keys }
}

export async function writeFiles(directory: string, accounts: readonly Credentials[]): Promise<string[]> {
  const files: string[] = []
  for (const [index, account] of accounts.entries()) {
    const file = join(directory, `account-${index}.json`)
    await writeFile(file, JSON.stringify(account, BufferJSON.replacer))
    files.push(file)
  }
  return files
}

/** `settings` are those of every instance. */
export async function fillDatabase(
  path: string,
  accounts: readonly Credentials[],
  settings: InstanceChanges = {},
): Promise<void> {
  const log = createLog({ level: 'silent', format: 'json' })
  await using database = await openDatabase({ location: { engine: 'sqlite', path }, encryptionKeys: [], log })
  await storeAccounts(database, accounts, settings)
}

/** No node holds the instances. */
export async function fillPostgres(url: string, accounts: readonly Credentials[]): Promise<void> {
  await using database = await openOwnDatabase({ engine: 'postgres', url }, [], { isPassing: true })
  await storeAccounts(database, accounts, {})
}

async function storeAccounts(
  database: Database,
  accounts: readonly Credentials[],
  settings: InstanceChanges,
): Promise<void> {
  const leases = new LeaseStore(database)
  const epoch = await leases.acquire('seed', 600_000)
  if (epoch === undefined) throw new Error('the lease was not free')
  const [keys, instances] = [new SessionKeyStore(database), new InstanceStore(database)]
  for (const [index, { creds, keys: held }] of accounts.entries()) {
    const sessionId = `session-${index}`
    const name = instanceName(index)
    await keys.save(holdOf('a', epoch), sessionId, writesOf({ ...held, creds: { creds } }))
    const row = { ...rowOf(name, sessionId, jidNormalizedUser(creds.me?.id)), ...settings }
    await instances.insert(holdOf('a', epoch), row, {
      at: row.createdAt,
      actor: 'system',
      action: 'instance.create',
      target: name,
    })
  }
  await leases.release('seed', epoch)
}

function writesOf(held: object) {
  return Object.entries(held as Record<string, Record<string, unknown>>).flatMap(([kind, values]) =>
    Object.entries(values).map(([id, value]) => ({ kind, id, value: encodeKey(kind, value) })),
  )
}

function rowOf(name: string, sessionId: string, jid: string) {
  const at = Date.now()
  const linked = { state: 'ready' as const, jid, lastJid: jid, sessionId }
  return { ...blankInstance(name, at), ...linked, pairedAt: at, readyAt: at, lastEventAt: at }
}
