import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { AgentActivity } from './agent-activity.ts'

const minute = 60_000

test('the address of a chat is looked up only if its use still counts', async () => {
  const clock = new ManualClock()
  let reads = 0
  const used: string[] = []
  const listener = {
    usedForMs: 10 * minute,
    used: (_: string, address: string) => void used.push(address),
    cameOnline: () => undefined,
    wentOffline: () => undefined,
  }
  using activity = new AgentActivity({
    sent: {
      lastAddress: () => {
        reads += 1
        return Promise.resolve(undefined)
      },
      unread: () => assert.fail('nothing is read'),
      markRead: () => assert.fail('nothing is read'),
    },
    recipients: { knownAddressOf: () => Promise.resolve(undefined) },
    accounts: { sessionOf: () => undefined },
    ...{ markAsRead: true, typing: true, presence: 'auto', listener: () => listener, clock, log: silentLog },
  })
  const chat = { chatId: 'p1', jid: '5511888880001@s.whatsapp.net', isGroup: false }
  activity.used('n0', chat, clock.now() - 10 * minute)
  assert.equal(reads, 0)
  activity.used('n0', chat, clock.now() - 9 * minute)
  await clock.advance(0)
  assert.deepEqual([reads, used], [1, [chat.jid]])
})
