// The process is killed in the middle of traffic, again and again: no ratchet is damaged, and without protection one is.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimGroup } from '../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { LeaseStore } from '../../src/storage/lease-store.ts'
import { JournalStore } from '../../src/storage/journal-store.ts'
import { SessionKeyStore } from '../../src/storage/session-key-store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { WhatsappNetwork } from '../../src/network/whatsapp-network.ts'
import { newLocation } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { settingsFor, storeLinked } from './harness/bed.ts'
import type { ClientOptions } from './harness/client-process.ts'
import { Line } from './harness/line.ts'
import { plain } from './harness/contents.ts'

const script = fileURLToPath(new URL('./harness/client-process.ts', import.meta.url))

type Scene = { sim: SimNetwork; phone: SimPhone; people: SimPerson[]; group: SimGroup }

async function stage(stack: AsyncDisposableStack, isProtected: boolean): Promise<Scene & { options: ClientOptions }> {
  const sim = stack.use(await SimNetwork.start({ seed: 'torture' }))
  const { location } = stack.use(await newLocation('sqlite'))
  await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  const epoch = (await new LeaseStore(database).acquire('torture', 600_000)) ?? 0
  const phone = sim.account({ phone: '5511999990001' })
  const store = new SessionKeyStore(database)
  await storeLinked(sim, phone, (writes) => store.save(epoch, 's', writes))
  const people = [1, 2, 3].map((n) => sim.person({ phone: `551188888000${n}` }))
  const [first, ...others] = people
  assert.ok(first)
  const group = sim.group('Team', first, [phone, ...others])
  const targets = [...people.map(({ user }) => user.pnJid), group.jid]
  const options = { location, settings: settingsFor(sim), epoch, seed: '', targets, isProtected }
  return { sim, phone, people, group, options }
}

/** Lets a client live for a while among people who write to it, and kills it just after a frame has left. */
async function oneLife({ phone, people, group }: Scene, options: ClientOptions, random: SeededRandom): Promise<void> {
  const child = fork(script, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('the client did not start')))])
  const writing = setInterval(() => {
    const person = people[random.below(people.length)]
    person?.text(random.below(3) === 0 ? group : phone, 'in')
  }, 8)
  const [reader] = people
  assert.ok(reader)
  for (let left = 2 + random.below(6); left > 0; left--) {
    await reader.messages.waitAfter(reader.messages.length, 'the next message', () => true)
  }
  child.kill('SIGKILL')
  clearInterval(writing)
  await gone
}

function unreadable(people: readonly SimPerson[]): number {
  return people.reduce((sum, person) => sum + person.undecryptable.length, 0)
}

test('after twelve kills every message of ours was readable, and messages pass both ways', async () => {
  await using stack = new AsyncDisposableStack()
  const { options, ...scene } = await stage(stack, true)
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
  const { options, ...scene } = await stage(stack, false)
  const random = new SeededRandom('kills')
  for (let life = 0; life < 12 && unreadable(scene.people) === 0; life++) {
    await oneLife(scene, { ...options, seed: `life ${life}` }, random)
  }
  assert.ok(unreadable(scene.people) > 0)
})
