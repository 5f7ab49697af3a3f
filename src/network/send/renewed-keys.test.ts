// The key of a group is renewed every time that a message is sealed: the sealing ends all the same.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'
import type { DeviceDirectory } from './device-directory.ts'
import type { GroupRosters } from './group-rosters.ts'
import { MissedDevices } from './missed-devices.ts'
import { Resends } from './resends.ts'
import type { StanzaSealer } from './stanza-sealer.ts'

const group = '120363000000000001@g.us'
const bob = { user: '5511888880001', device: 1, jid: '5511888880001:1@s.whatsapp.net', isHosted: false }
const message = { conversation: 'hello' }
const request = { chat: group, id: '3EB01', message }

/** A group of which one member after the other leaves. `keys` counts how often the key was sealed. */
function setUp() {
  const [ws, sent, logs] = [new EventEmitter(), [] as BinaryNode[], new RecordedLog()]
  const counts = { renewals: 0, keys: 0 }
  const creds = { me: { id: '5511999990001:2@s.whatsapp.net' } }
  const signalRepository = {
    getSenderKeyDistributionMessage: () => {
      counts.keys += 1
      return Promise.resolve(new Uint8Array())
    },
    encryptAll: (items: unknown[]) => Promise.resolve(items.map(() => ({ type: 'msg', ciphertext: new Uint8Array() }))),
  }
  const socket = {
    ws,
    authState: { creds },
    signalRepository,
    assertSessions: () => Promise.resolve(true),
    sendNode: (node: BinaryNode) => Promise.resolve(void sent.push(node)),
  } as unknown as WASocket
  const keyHolders = {
    renewalsOf: () => counts.renewals++,
    noteGiven: () => Promise.resolve(),
    giveAgain: () => Promise.resolve(),
  } as unknown as SenderKeyHolders
  const metadata = { addressingMode: 'pn', participants: [] }
  const rosters = {
    of: () => Promise.resolve({ metadata, devices: [bob], hash: 'theirs' }),
    refresh: () => Promise.resolve(),
    hasMember: () => Promise.resolve(true),
    hasDevice: () => Promise.resolve(true),
    metadataOf: () => Promise.resolve(metadata),
  } as unknown as GroupRosters
  return { ws, sent, logs, counts, socket, keyHolders, rosters, clock: new ManualClock() }
}

test('a device that asks gets the message without the key, when the key is renewed for the fourth time', async () => {
  const { ws, sent, counts, socket, keyHolders, rosters, clock } = setUp()
  const resends = new Resends({ socket, keyHolders, rosters, clock })
  const retry = { tag: 'retry', attrs: { count: '1' } }
  ws.emit('CB:receipt', {
    tag: 'receipt',
    attrs: { type: 'retry', from: group, participant: bob.jid, id: request.id },
    content: [retry],
  })
  await assert.rejects(resends.answer({ ...request, asking: bob.jid }), /was sent again/)
  assert.deepEqual([sent.length, counts.keys], [1, 3])
  assert.equal(childOf(sent[0] ?? assert.fail(), 'enc')?.attrs['count'], '1')
})

test('a device that only the network knew gets no message, and the log says so', async () => {
  const { ws, sent, logs, counts, socket, keyHolders, rosters, clock } = setUp()
  const sealer = {
    toMissed: () => {
      counts.keys += 1
      return Promise.resolve({ tag: 'message', attrs: {} })
    },
  } as unknown as StanzaSealer
  const directory = {} as unknown as DeviceDirectory
  const account = { sessionId: 's' }
  const { log } = logs
  const missed = new MissedDevices({ socket, account, sealer, directory, rosters, keyHolders, clock, log })
  missed.expect({ request, devices: [], hash: () => 'ours' })
  ws.emit('CB:ack,class:message', { tag: 'ack', attrs: { id: request.id, phash: 'theirs' } })
  const warnings = () => logs.withMessage('a message did not reach a device that only the network knew')
  await waitUntil('the log says so', () => warnings().length === 1)
  assert.deepEqual([sent.length, counts.keys], [0, 4])
  const { session, message_id: id, is_group: isGroup } = warnings()[0] ?? {}
  assert.deepEqual([session, id, isGroup], ['s', '3EB01', true])
})
