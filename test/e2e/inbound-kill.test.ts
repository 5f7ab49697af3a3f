// kill -9 of the whole service at any moment of a stream of messages: everything reaches the helpdesk, nothing twice.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { newLocation } from '../harness/databases.ts'
import { destination } from '../harness/inbound-stage.ts'
import { seedLinked } from '../harness/linked-seed.ts'
import { silentLog } from '../harness/logs.ts'
import { networkEnvironment } from '../harness/service.ts'
import { ServiceProcess } from '../harness/service-process.ts'
import { waitUntil } from '../harness/wait-until.ts'

const chats = 6
const messages = Number(process.env['KILL_MESSAGES'] ?? 150)
const kills = Number(process.env['KILL_ROUNDS'] ?? 4)

test('a killed service loses nothing and doubles nothing', { timeout: 240_000 }, async () => {
  await using place = await newLocation('sqlite')
  await using network = await SimNetwork.start()
  await using helpdesk = await SimHelpdesk.start({ quirks: calm })
  const database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  const [phone] = await seedLinked(database, network, 1)
  await database[Symbol.asyncDispose]()
  assert.ok(phone)
  const environment = { DATABASE_URL: place.url, ...networkEnvironment(network), ...destination(helpdesk) }
  const people = Array.from({ length: chats }, (_, index) => network.person({ phone: `5511980001${index}00` }))
  const random = new SeededRandom('kill')
  const killAt = Array.from({ length: kills }, (_, index) => Math.floor(((index + 0.5) * messages) / kills))
  let service = new ServiceProcess(environment)
  await service.ready()
  const sent: string[] = []
  for (let index = 0; index < messages; index++) {
    const text = `m${index}`
    people[index % chats]?.text(phone, text)
    sent.push(text)
    await new Promise((resolve) => setTimeout(resolve, 5 + random.below(20)))
    if (!killAt.includes(index)) continue
    service.send('SIGKILL')
    await service.exited()
    service = new ServiceProcess(environment)
    await service.ready()
  }
  const texts = () => helpdesk.messages().map(({ content }) => content ?? '')
  const all = () => new Set(texts()).size === sent.length
  await waitUntil('every message has arrived', all, { timeoutMs: 120_000, instead: () => texts().length })
  await service[Symbol.asyncDispose]()
  assert.deepEqual(texts().sort(), sent.sort(), 'each one once')
  assert.equal(helpdesk.see.conversations().length, chats)
  helpdesk.assertNothingRefused()
})
