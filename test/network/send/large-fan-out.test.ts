// Sealing for many devices keeps the processor busy: other work gets turns of the event loop in between.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSignalPubKey } from 'baileys'
import { systemClock } from '../../../src/lib/clock.ts'
import { AccountKeys } from '../../../src/network/account/account-keys.ts'
import { durableRepository } from '../../../src/network/account/durable-signal.ts'
import { ConnectionKeys } from '../../../src/network/account/connection-keys.ts'
import { applyLibraryPatches } from '../../../src/network/library/patches/apply.ts'
import { Curve, initAuthCreds } from '../../../src/network/library/library.ts'
import type { NodeHold } from '../../../src/core/nodes/hold.ts'
import type { LibraryLogger, SignalAuthState } from '../../../src/network/library/library.ts'
import { IdentityChanges } from '../../../src/network/account/identity-changes.ts'
import type { SessionKeyWrite } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { silentLog } from '../../harness/logs.ts'
import { nodeHold } from '../../harness/holds.ts'

const devices = 40
const jids = Array.from({ length: devices }, (_, n) => `${100 + n}@lid`)

/** Storage that answers at once, so that nothing but the work itself decides when others get a turn. */
function setUp() {
  applyLibraryPatches()
  const saved: string[][] = []
  const disk = { ready: Promise.resolve() as Promise<unknown> }
  const keys = new AccountKeys({
    keys: {
      load: () => Promise.resolve([]),
      save: async (_hold: NodeHold, _session: string, writes: readonly SessionKeyWrite[]) => {
        await disk.ready
        saved.push(writes.map(({ kind, id }) => `${kind} ${id}`))
      },
    },
    sessionId: 's',
    hold: nodeHold(),
    clock: systemClock,
    log: silentLog,
    onFenced: () => undefined,
  })
  const creds = { ...initAuthCreds(), me: { id: '1:1@s.whatsapp.net' } }
  const connectionKeys = new ConnectionKeys({ keys, creds })
  const create = durableRepository({
    connectionKeys,
    identities: new IdentityChanges(keys),
    journal: {} as never,
    clock: systemClock,
  })
  const nothing = () => undefined
  const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
  const auth = { creds, keys: { get: nothing, set: nothing } } as unknown as SignalAuthState
  return { saved, disk, repository: create(auth, logger as unknown as LibraryLogger, () => Promise.resolve([])) }
}

function bundle() {
  const { signedIdentityKey, signedPreKey, registrationId } = initAuthCreds()
  return {
    registrationId,
    identityKey: generateSignalPubKey(signedIdentityKey.public),
    signedPreKey: {
      keyId: signedPreKey.keyId,
      publicKey: generateSignalPubKey(signedPreKey.keyPair.public),
      signature: signedPreKey.signature,
    },
    preKey: { keyId: 1, publicKey: generateSignalPubKey(Curve.generateKeyPair().public) },
  }
}

/** How many turns of the event loop a bystander gets while the work runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    if (isOver) return
    turns += 1
    setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

test('other work gets a turn after every opened session, and after every few sealed devices', async () => {
  const { repository, saved } = setUp()
  const opening = await turnsDuring(async () => {
    for (const jid of jids) await repository.injectE2ESession({ jid, session: bundle() })
  })
  // The first need not wait.
  assert.ok(opening >= devices - 1, `${opening} turns while ${devices} sessions were opened`)
  const items = jids.map((jid) => ({ jid, data: Buffer.from('text') }))
  const sealing = await turnsDuring(async () => {
    const before = saved.length
    const sealed = await repository.encryptAll(items)
    assert.ok(sealed.every((each) => each?.type === 'pkmsg'))
    assert.equal(saved.length, before + 1, 'all of it is one write')
    assert.equal(saved.at(-1)?.filter((name) => name.startsWith('session ')).length, devices)
  })
  assert.ok(sealing >= Math.ceil(devices / 8) - 1, `${sealing} turns while ${devices} messages were sealed`)
})

test('opening a session does not wait for storage, but a message sealed with it is handed out only when both are stored', async () => {
  const { repository, saved, disk } = setUp()
  const { promise, resolve } = Promise.withResolvers()
  disk.ready = promise
  const [jid = ''] = jids
  await repository.injectE2ESession({ jid, session: bundle() })
  assert.equal(saved.length, 0)
  let isSealed = false
  const sealing = repository.encryptAll([{ jid, data: Buffer.from('text') }]).then(() => {
    isSealed = true
  })
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  assert.equal(isSealed, false)
  resolve(undefined)
  await sealing
  assert.ok(saved.at(-1)?.some((name) => name.startsWith('session ')))
})
