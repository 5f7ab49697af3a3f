// Drops, stream errors, server restarts and kills of the service, seeded; afterwards everything works as before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import { numberOf } from '../../harness/linked-seed.ts'
import { silentLog } from '../../harness/logs.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { plain } from '../../network/harness/contents.ts'
import { Line } from '../../network/harness/line.ts'
import { createNetwork, settingsFor } from '../../network/harness/network-room.ts'

// CHAOS_SEED gives the test another order of events.
const seed = process.env['CHAOS_SEED'] ?? 'causeway'
const count = rounds({ gate: 6, long: 15 })
const accounts = 4

test(`after ${count} rounds of chaos every instance is ready and reads and writes as before`, async () => {
  await using world = await ProcessWorld.open({ accounts, network: { ...harshNetwork, seed } })
  const { network } = world
  const people = Array.from({ length: 3 }, (_, i) => network.person({ phone: `55118${String(20_000_000 + i)}` }))
  await wreak(world, people)
  await world.allReady(90_000)
  await everybodyIsRead(world, people)
  await world.end('SIGTERM')
  await everybodyReads(world, people)
})

/** Lets things go wrong while people write; a service runs afterwards. */
async function wreak(world: ProcessWorld, people: readonly SimPerson[]): Promise<void> {
  const { network } = world
  const random = new SeededRandom(`${seed} chaos`)
  const blows: ((account: string) => Promise<unknown>)[] = [
    (account) => network.strike({ kind: 'drop', account }),
    () => world.restart('SIGKILL'),
    (account) => network.strike({ kind: 'stream_error', account, reason: 'restart' }),
    () => world.restart('SIGTERM'),
    () => network.strike({ kind: 'server_restart' }),
  ]
  for (let round = 0; round < count; round++) {
    for (let index = 0; index < accounts; index++)
      writeTo(world, people[random.below(people.length)], index, `round ${round}`)
    const account = numberOf(random.below(accounts))
    // Each kind once, then by chance.
    await blows[round < blows.length ? round : random.below(blows.length)]?.(account)
  }
}

function writeTo({ phones }: ProcessWorld, person: SimPerson | undefined, index: number, text: string): string {
  const phone = phones[index]
  assert.ok(person && phone)
  return person.text(phone, text).id
}

/** Every person writes to every account: all is acknowledged, nothing had to be asked for again. */
async function everybodyIsRead(world: ProcessWorld, people: readonly SimPerson[]): Promise<void> {
  const { network, phones } = world
  const ids = people.flatMap((person) => phones.map((_, index) => writeTo(world, person, index, 'at the end')))
  const open = () => phones.flatMap(({ companion }) => companion.books.unacknowledgedIds())
  await waitUntil('everything written is acknowledged', () => open().length === 0, { instead: open })
  const retries = network.log.find({ tag: 'receipt' }).filter(({ attrs }) => attrs['type'] === 'retry')
  assert.deepEqual(
    retries.flatMap(({ attrs }) => (ids.includes(attrs['id'] ?? '') ? [attrs['id']] : [])),
    [],
  )
}

/** Every account writes to every person with the keys the service left behind. */
async function everybodyReads({ network, place }: ProcessWorld, people: readonly SimPerson[]): Promise<void> {
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  const epoch = (await new LeaseStore(database).acquire('afterwards', 60_000)) ?? 0
  await using linked = createNetwork({ database, epoch, settings: settingsFor(network) })
  for (let index = 0; index < accounts; index++) {
    const line = await Line.open(linked, `session-${index}`)
    await line.drained()
    for (const [who, person] of people.entries()) {
      const id = `3EB0${String(index).padStart(8, '0')}${String(who).padStart(8, '0')}`
      await line.session.send(`${person.user.phone}@s.whatsapp.net`, plain(`from ${index} to ${who}`), id)
      await person.messages.waitFor(`the message of account ${index}`, (one) => one.id === id)
    }
  }
}
