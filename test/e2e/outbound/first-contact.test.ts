// An agent writes first to a person who does not know the account, on a network that asks for a privacy token.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'

test('the message arrives when the phone has given the account a salt, and is refused without one', async () => {
  await using world = await AgentWorld.open()
  world.network.fault({ kind: 'token_required', times: Infinity })
  world.phone.changeSalt(Buffer.alloc(32, 9))
  const keys = new SessionKeyStore(world.service.database)
  const salt = async () => (await keys.load('session-0', 'tctoken', ['__nct_salt'])).length
  await waitUntil('the salt is stored', async () => (await salt()) === 1)
  await world.write('nice to meet you')
  await world.received('nice to meet you')
  assert.deepEqual(world.network.tokens.withoutToken, [])

  world.phone.changeSalt(undefined)
  await waitUntil('the salt is removed', async () => (await salt()) === 0)
  const carol = world.network.person({ phone: '5511888880009' })
  const meta = { sender: { identifier: carol.user.pnJid, phone_number: '+5511888880009' } }
  const conversation = { id: 99, inbox_id: 1, meta }
  await world.post(world.callback(4711, 'nice to meet you too', { conversation }))
  await waitUntil('the message is refused', () => world.network.tokens.withoutToken.length > 0)
  assert.deepEqual(world.texts(carol), [])
})
