import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import type { NodeHold } from '../../core/nodes/hold.ts'
import type { SessionKeyWrite } from '../../storage/stores/accounts/session-key-store.ts'
import { initAuthCreds } from '../library/library.ts'
import { AccountKeys } from './account-keys.ts'
import { retireOldKeys } from './retire-old-keys.ts'
import { nodeHold } from '../../../test/harness/holds.ts'

const now = 1_800_000_000_000
const creds = { ...initAuthCreds(), me: { id: '5511999990001:4@s.whatsapp.net', lid: '100000000000001:4@lid' } }

/** The keys of an account over a store in memory. */
function setUp() {
  const stored = new Map<string, SessionKeyWrite>()
  const store = {
    load: (_session: string, kind: string, ids: readonly string[]) =>
      Promise.resolve(ids.flatMap((id) => valueOf(stored.get(`${kind} ${id}`)))),
    save: (_hold: NodeHold, _session: string, writes: readonly SessionKeyWrite[]) => {
      for (const write of writes) stored.set(`${write.kind} ${write.id}`, write)
      return Promise.resolve()
    },
    idsOf: (_session: string, of: string) =>
      Promise.resolve([...stored.values()].flatMap(({ kind, id, value }) => (kind === of && value ? [id] : []))),
  }
  const deps = {
    sessionId: 's',
    hold: nodeHold(),
    clock: new ManualClock(now),
    log: silentLog,
    onFenced: () => undefined,
  }
  const keys = new AccountKeys({ ...deps, keys: store })
  const retire = () => retireOldKeys({ keys, store, sessionId: 's', now }, creds)
  return { keys, store, retire }
}

function valueOf(write: SessionKeyWrite | undefined) {
  return write?.value ? [{ kind: write.kind, id: write.id, value: write.value }] : []
}

const session = (closed: number) => ({
  version: 'v1',
  _sessions: { base: { indexInfo: { closed, used: 3 }, _chains: {} } },
})
const group = '120363000000000001@g.us'
const ownNames = [`${group}::5511999990001::4`, `${group}::100000000000001_1::4`]
const otherNames = [`${group}::5511888880001::0`, `${group}::5511999990001::0`]

async function fill({ keys }: ReturnType<typeof setUp>): Promise<void> {
  const many = Array.from({ length: 150 }, (_, n) => [`${n}.0`, session(-1)])
  const senderKeys = [...ownNames, ...otherNames].map((name) => [name, Buffer.from(name)])
  await keys.set({
    session: { ...(Object.fromEntries(many) as Record<string, unknown>), 'closed.0': session(77) },
    'sender-key': Object.fromEntries(senderKeys) as Record<string, unknown>,
    'sender-key-memory': { [group]: { '5511888880001@s.whatsapp.net': true } },
  })
}

test('every session is closed, and our own keys of groups go', async () => {
  const stage = setUp()
  const { keys, store, retire } = stage
  await fill(stage)
  await keys.set({ restored: { mark: true } })
  await retire()
  const sessions = await keys.get('session', ['0.0', '149.0', 'closed.0'])
  assert.deepEqual(sessions, { '0.0': session(now), '149.0': session(now), 'closed.0': session(77) })
  assert.deepEqual((await store.idsOf('s', 'sender-key')).sort(), otherNames.sort())
  assert.deepEqual(await store.idsOf('s', 'sender-key-memory'), [])
  assert.deepEqual(await store.idsOf('s', 'restored'), [])
})

test('a session without the mark stays as it is', async () => {
  const stage = setUp()
  const { keys, store, retire } = stage
  await fill(stage)
  await retire()
  assert.deepEqual((await keys.get('session', ['0.0']))['0.0'], session(-1))
  assert.equal((await store.idsOf('s', 'sender-key')).length, 4)
})
