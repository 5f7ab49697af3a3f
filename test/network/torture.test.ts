// The process is killed in the middle of traffic, again and again: no ratchet is damaged, and without protection one is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { WhatsappNetwork } from '../../src/network/whatsapp-network.ts'
import { silentLog } from '../harness/logs.ts'
import type { ClientOptions } from './harness/client-process.ts'
import { Line } from './harness/line.ts'
import { plain } from './harness/contents.ts'
import { stage, startClient } from './harness/torture-stage.ts'
import type { EventContext } from './harness/torture-stage.ts'

/** Lets a client live for a while among people who write to it, and kills it just after a frame has left. */
async function oneLife(
  { phone, people, group }: EventContext,
  options: ClientOptions,
  random: SeededRandom,
): Promise<void> {
  const client = await startClient(options)
  const writing = setInterval(() => {
    const person = people[random.below(people.length)]
    person?.text(random.below(3) === 0 ? group : phone, 'in')
  }, 8)
  const [reader] = people
  assert.ok(reader)
  for (let left = 2 + random.below(6); left > 0; left--) {
    await reader.messages.waitAfter(reader.messages.length, 'the next message', () => true)
  }
  clearInterval(writing)
  await client.end()
}

function unreadable(people: readonly SimPerson[]): number {
  return people.reduce((sum, person) => sum + person.undecryptable.length, 0)
}

test('after twelve kills every message of ours was readable, and messages pass both ways', async () => {
  await using stack = new AsyncDisposableStack()
  const { options, ...scene } = await stage(stack, 'protected')
  const { people, phone, group } = scene
  const random = new SeededRandom('kills')
  for (let life = 0; life < 12; life++) await oneLife(scene, { ...options, seed: `life ${life}` }, random)
  assert.equal(unreadable(people), 0, JSON.stringify(people.flatMap((one) => one.undecryptable.entries)))

  const database = stack.use(await openDatabase({ location: options.location, encryptionKeys: [], log: silentLog }))
  const { epoch, settings } = options
  const keys = new SessionKeyStore(database)
  const network = stack.use(
    new WhatsappNetwork({
      keys,
      journal: new JournalStore(database),
      epoch: () => epoch,
      clock: systemClock,
      log: silentLog,
      settings,
    }),
  )
  const line = await Line.open(network, 's')
  await line.drained()
  for (const [index, person] of people.entries()) {
    const fresh = [person.text(phone, 'fresh').id, person.text(group, 'fresh').id]
    for (const id of fresh) {
      const first = await person.receipts.waitFor(`a receipt for ${id}`, (one) => one.id === id)
      assert.equal(first.type, 'delivered')
    }
    await line.session.send(person.user.pnJid, plain('fresh'), `3EB0FRESH${index}`)
    await person.messages.waitFor('the fresh message', (one) => one.id === `3EB0FRESH${index}`)
  }
  assert.equal(unreadable(people), 0)
})

test('without protection the same kills damage a ratchet', async () => {
  await using stack = new AsyncDisposableStack()
  const { options, ...scene } = await stage(stack, 'stock')
  const random = new SeededRandom('kills')
  for (let life = 0; life < 12 && unreadable(scene.people) === 0; life++) {
    await oneLife(scene, { ...options, seed: `life ${life}` }, random)
  }
  assert.ok(unreadable(scene.people) > 0)
})
