// Random drops, stream errors, server restarts and kills of the service, seeded; afterwards everything works as before.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { WhatsappNetwork } from '../../../src/network/whatsapp-network.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { newLocation } from '../../harness/databases.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { numberOf, seedLinked } from '../../harness/linked-seed.ts'
import { silentLog } from '../../harness/logs.ts'
import { networkEnvironment } from '../../harness/service.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { settingsFor } from '../../network/harness/bed.ts'
import { Line } from '../../network/harness/line.ts'
import { plain } from '../../network/harness/contents.ts'

// CHAOS_SEED and CHAOS_ROUNDS make it another story or a longer one.
const seed = process.env['CHAOS_SEED'] ?? 'causeway'
const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 15)
const accounts = 4

type Item = { name: string; state: string }
type Stage = { network: SimNetwork; people: SimPerson[]; place: TestLocation; random: SeededRandom }

test(`after ${rounds} rounds of chaos every instance is ready and reads and writes as before`, async () => {
  await using place = await newLocation('sqlite')
  await using network = await SimNetwork.start({ seed })
  const people = Array.from({ length: 3 }, (_, i) => network.person({ phone: `55118${String(20_000_000 + i)}` }))
  const stage: Stage = { network, people, place, random: new SeededRandom(`${seed} chaos`) }
  {
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    await seedLinked(database, network, accounts)
  }
  const service = await wreak(stage)
  await using stopping = service
  await allReady(await stopping.ready())
  await everybodyIsRead(stage)
  service.send('SIGTERM')
  await service.exited()
  await everybodyReads(stage)
})

/** Lets things go wrong while people write; the service that is left runs. */
async function wreak({ network, people, place, random }: Stage): Promise<ServiceProcess> {
  const start = async () => {
    const started = new ServiceProcess({ DATABASE_URL: place.url, ...networkEnvironment(network) })
    await started.ready()
    return started
  }
  let service = await start()
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < accounts; index++)
      writeTo(network, people[random.below(people.length)], index, `round ${round}`)
    const account = numberOf(random.below(accounts))
    const blow = random.below(5)
    if (blow === 0) await network.strike({ kind: 'drop', account })
    else if (blow === 1) await network.strike({ kind: 'stream_error', account, reason: 'restart' })
    else if (blow === 2) await network.strike({ kind: 'server_restart' })
    else {
      service.send(blow === 3 ? 'SIGKILL' : 'SIGTERM')
      await service.exited()
      service = await start()
    }
  }
  return service
}

function writeTo(network: SimNetwork, person: SimPerson | undefined, index: number, text: string): string {
  const phone = network.phone(numberOf(index))
  if (!person || !phone) throw new Error('nobody there')
  return person.text(phone, text).id
}

async function allReady(url: string): Promise<void> {
  let seen: Item[] = []
  const isReady = async () => {
    seen = (await (await fetch(`${url}/api/instances`)).json()) as Item[]
    return seen.every(({ state }) => state === 'ready')
  }
  await waitUntil('every instance is ready', isReady, { timeoutMs: 90_000, instead: () => seen })
}

/** Every person writes to every account: all is acknowledged, nothing had to be asked for again. */
async function everybodyIsRead({ network, people }: Stage): Promise<void> {
  const ids = people.flatMap((person) =>
    Array.from({ length: accounts }, (_, index) => writeTo(network, person, index, 'at the end')),
  )
  const open = () =>
    Array.from(
      { length: accounts },
      (_, index) => network.phone(numberOf(index))?.companion.books.unacknowledgedIds() ?? [],
    ).flat()
  await waitUntil('everything written is acknowledged', () => open().length === 0, { instead: open })
  const retries = network.log.find({ tag: 'receipt' }).filter(({ attrs }) => attrs['type'] === 'retry')
  assert.deepEqual(
    retries.flatMap(({ attrs }) => (ids.includes(attrs['id'] ?? '') ? [attrs['id']] : [])),
    [],
  )
}

/** Every account writes to every person with the keys the service left behind. */
async function everybodyReads({ network, people, place }: Stage): Promise<void> {
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  const epoch = (await new LeaseStore(database).acquire('afterwards', 60_000)) ?? 0
  const keys = new SessionKeyStore(database)
  const settings = settingsFor(network)
  await using linked = new WhatsappNetwork({
    keys,
    journal: new JournalStore(database),
    epoch: () => epoch,
    clock: systemClock,
    log: silentLog,
    settings,
  })
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
