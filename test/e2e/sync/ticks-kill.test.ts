// kill -9 of the whole service among receipts, restarts and lost connections: in the end the helpdesk shows what the phones
// have reported.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ReceivedMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'
import { delivered } from './harness/tick-world.ts'

/** `status` is what the phone has reported, and `last` is what it reports at most. */
type Sent = {
  id: number
  person: SimPerson
  message: ReceivedMessage
  status: 'sent' | 'delivered' | 'read'
  last: 'delivered' | 'read'
}

const environment = { SERVICE_DELIVERY_STATUS_SYNC: 'true', SERVICE_DRAIN_RATE: '0' }

/** The helpdesk calls the process that runs now. */
async function listen(world: ProcessWorld): Promise<void> {
  const channel = { webhook_url: `${await world.service.ready()}/api/instances/n0/webhook` }
  await new DeskClient(world.helpdesk).patch('/inboxes/1', { channel })
}

/** Agents write to some customers, and everything has arrived. No phone has reported anything. */
async function writeAll(world: ProcessWorld, count: number): Promise<Sent[]> {
  const { network, helpdesk } = world
  const desk = new DeskClient(helpdesk)
  const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
  const people = Array.from({ length: 4 }, (_, n) => network.person({ phone: `551188888000${n}` }))
  const chats = await Promise.all(
    people.map(async (person) => ({ person, chat: await openChat(desk, person.user.phone) })),
  )
  const sent: Sent[] = []
  for (const { person } of chats) person.confirmsDelivery = false
  for (let n = 0; n < count; n++) {
    const place = chats[n % chats.length]
    assert.ok(place)
    const { person, chat } = place
    const { body } = await agent.post(`/conversations/${chat}/messages`, { content: `m${n}`, message_type: 'outgoing' })
    const message = await person.messages.waitFor(`m${n}`, (one) => textOfMessage(one.message) === `m${n}`)
    sent.push({ id: body.id, person, message, status: 'sent', last: n % 4 === 0 ? 'delivered' : 'read' })
  }
  return sent
}

/** The phones report in bursts. When a receipt of every third burst is confirmed, the process is killed. */
async function reportAndKill(world: ProcessWorld, sent: readonly Sent[], kills: number): Promise<void> {
  const random = new SeededRandom('ticks')
  const bursts = kills * 3
  for (let burst = 0; burst < bursts; burst++) {
    const isDeadly = burst % 3 === 1
    for (const one of sent) {
      if (one.status === one.last || random.below(bursts) > 2) continue
      // No later receipt repeats the last one, so a last receipt that is lost stays lost.
      one.status = isDeadly || random.below(2) === 0 ? one.last : 'delivered'
      one.person.receipt(one.status, [one.message])
    }
    if (!isDeadly) {
      await pause(random.below(300))
      continue
    }
    const { books } = world.phone.companion
    const unconfirmed = books.size
    await waitUntil('a receipt is confirmed', () => books.size < unconfirmed)
    await world.kill()
    await listen(world)
  }
}

function wrongAt({ helpdesk }: ProcessWorld, sent: readonly Sent[]): string[] {
  const shown = new Map(helpdesk.messages().map(({ id, status }) => [id, status]))
  return sent.flatMap(({ id, status }) => (shown.get(id) === status ? [] : `${id} is ${shown.get(id)}, not ${status}`))
}

describe('ticks end as the phones report them', { concurrency: 2 }, () => {
  for (const engine of engines) {
    const kills = rounds({ gate: 2, long: 6 })
    test(`after ${kills} × kill -9 among receipts, on ${engine}`, { timeout: 600_000 }, async () => {
      await using world = await ProcessWorld.open({ engine, environment })
      await listen(world)
      await waitUntil('the account is online', () => world.service.reached('ready'))
      const sent = await writeAll(world, 40)
      await reportAndKill(world, sent, kills)
      const isRight = () => wrongAt(world, sent).length === 0
      await waitUntil('the helpdesk shows what the phones report', isRight, {
        timeoutMs: 300_000,
        instead: () => wrongAt(world, sent),
      })
      assert.ok(sent.some(({ status }) => status === 'read') && sent.some(({ status }) => status === 'delivered'))
    })

    test(`after a restart while the helpdesk was away, on ${engine}`, async () => {
      await using world = await AgentWorld.open({ engine })
      const { id, message } = await delivered(world, 'read while the helpdesk is away')
      await world.helpdesk.settled()
      await world.helpdesk.fault({ kind: 'status', status: 503, method: 'PATCH', path: /\/messages\/\d+$/ })
      world.bob.receipt('read', [message])
      await waitUntil('the receipt is confirmed', () => world.phone.companion.books.size === 0)
      await world.stop()
      await world.helpdesk.clearFaults()
      await world.restart()
      await world.shown(id, ({ status }) => status === 'read')
    })

    test(`after a lost connection, on ${engine}`, async () => {
      await using world = await AgentWorld.open({ engine })
      const { id, message } = await delivered(world, 'read while the account is away')
      await world.disconnect()
      world.bob.receipt('read', [message])
      await world.reconnect()
      await world.shown(id, ({ status }) => status === 'read')
      await waitUntil('the receipt is confirmed', () => world.phone.companion.books.size === 0)
    })
  }
})
