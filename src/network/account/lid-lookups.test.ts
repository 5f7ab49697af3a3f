import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { initAuthCreds, stockRepository } from '../library/library.ts'
import type { LibraryLogger, SignalAuthState } from '../library/library.ts'
import { answerFromMemory } from './lid-lookups.ts'

const nothing = () => undefined
const logger = { level: 'silent', trace: nothing, debug: nothing, warn: nothing } as unknown as LibraryLogger

function repository(reads: string[] = []) {
  const stored: Record<string, string> = { '5511888880001': '777001' }
  const keys = {
    get: (kind: string, ids: string[]) => {
      reads.push(kind)
      return Promise.resolve(Object.fromEntries(ids.flatMap((id) => (stored[id] ? [[id, stored[id]]] : []))))
    },
    set: () => Promise.resolve(),
    transaction: <T>(work: () => Promise<T>) => work(),
  }
  const auth = { creds: initAuthCreds(), keys } as unknown as SignalAuthState
  return stockRepository(auth, logger, () => Promise.resolve([]))
}

test('LIDs from memory are those of the library, with the device and the domain', async () => {
  const reads: string[] = []
  const [library, ours] = [repository(), repository(reads)]
  answerFromMemory(ours, new ManualClock())
  const jids = ['5511888880001', '5511888880001:0', '5511888880001:3', '5511888880002'].map(
    (user) => `${user}@s.whatsapp.net`,
  )
  jids.push('5511888880001:99@hosted', '777001@lid', '12036300@g.us')
  const expected = await Promise.all(jids.map((jid) => library.lidMapping.getLIDForPN(jid)))
  for (const round of [1, 2]) {
    const found = await Promise.all(jids.map((jid) => ours.lidMapping.getLIDForPN(jid)))
    assert.deepEqual(found, expected, `round ${round}`)
  }
  reads.length = 0
  assert.equal(await ours.lidMapping.getLIDForPN('5511888880001:3@s.whatsapp.net'), '777001:3@lid')
  assert.deepEqual(reads, [])
})
