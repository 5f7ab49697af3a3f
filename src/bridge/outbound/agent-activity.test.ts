import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { AgentActivity } from './agent-activity.ts'

const minute = 60_000
const chat = { chatId: 'p1', jid: '5511888880001@s.whatsapp.net', isGroup: false }

function bed() {
  const clock = new ManualClock()
  const noted = { reads: 0, used: [] as string[] }
  const here = new Set(['n0'])
  const listener = {
    usedForMs: 10 * minute,
    used: (_: string, address: string) => void noted.used.push(address),
    cameOnline: () => undefined,
    wentOffline: () => undefined,
  }
  const activity = new AgentActivity({
    sent: {
      lastAddress: () => {
        noted.reads += 1
        return Promise.resolve(undefined)
      },
      unread: () => assert.fail('nothing is read'),
      markRead: () => assert.fail('nothing is read'),
    },
    recipients: { knownAddressOf: () => Promise.resolve(undefined) },
    accounts: { sessionOf: () => undefined, isHere: (instance) => here.has(instance) },
    ...{ markAsRead: true, typing: true, presence: 'auto', listener: () => listener, clock, log: silentLog },
  })
  return { clock, noted, here, activity }
}

test('the address of a chat is looked up only if its use still counts', async () => {
  const { clock, noted, activity } = bed()
  activity.used('n0', chat, clock.now() - 10 * minute)
  assert.equal(noted.reads, 0)
  activity.used('n0', chat, clock.now() - 9 * minute)
  await clock.advance(0)
  assert.deepEqual(noted, { reads: 1, used: [chat.jid] })
})

test('nothing is remembered of an instance that another node holds', async () => {
  const { clock, noted, here, activity } = bed()
  activity.acted('theirs', clock.now())
  activity.typing('theirs', chat, true)
  activity.used('theirs', chat, clock.now())
  activity.usedAddress('theirs', chat.jid, clock.now())
  // It leaves while its address is looked up.
  activity.used('n0', chat, clock.now())
  here.delete('n0')
  await clock.advance(0)
  assert.deepEqual([clock.pending, noted.used], [0, []])
})
