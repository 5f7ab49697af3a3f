// A process with one linked account that reads and writes without end; a test kills it.

import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { DatabaseLocation } from '../../../src/core/database-location.ts'
import { Account } from '../../../src/network/account/account.ts'
import { ConnectionKeys } from '../../../src/network/account/connection-keys.ts'
import { applyLibraryPatches } from '../../../src/network/library/patches/apply.ts'
import { defaultVersion, makeWASocket } from '../../../src/network/library/library.ts'
import { prepareEndpoint, socketConfig } from '../../../src/network/connection/socket-config.ts'
import type { NetworkSettings } from '../../../src/network/connection/socket-config.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { silentLog } from '../../harness/logs.ts'
import { plain } from './contents.ts'
import { createNetwork } from './network-room.ts'
import { nodeHold } from '../../harness/holds.ts'

export type ClientOptions = {
  location: DatabaseLocation
  settings: NetworkSettings
  epoch: number
  seed: string
  /** Where the client writes to; an empty list means that it only reads. */
  targets: string[]
  /** How long the disk takes for a write of keys. */
  saveMs: number
  /** stock: the library's own way, keys are stored after the frame has left. unjournalled: messages after the receipt. */
  way: 'protected' | 'stock' | 'unjournalled'
}
type Send = (chat: string, text: string, id: string) => Promise<unknown>

const options = JSON.parse(process.argv[2] ?? '{}') as ClientOptions
const { location, settings, epoch, seed, targets, way, saveMs } = options
const random = new SeededRandom(seed)
const clock = systemClock
const log = silentLog

let isDiskStill = false
process.on('message', () => {
  isDiskStill = true
})

function standStill(): Promise<never> {
  process.send?.('still')
  return new Promise(() => undefined)
}

const database = await openDatabase({ location, encryptionKeys: [], log })
const store = new SessionKeyStore(database)
const keys = {
  load: store.load.bind(store),
  idsOf: store.idsOf.bind(store),
  dropSession: store.dropSession.bind(store),
  async save(...args: Parameters<SessionKeyStore['save']>) {
    if (isDiskStill) await standStill()
    await pause(saveMs)
    await store.save(...args)
  },
}

async function openProtected(): Promise<Send> {
  const network = createNetwork({ database, epoch, settings }, { keys, isJournalOff: way === 'unjournalled' })
  // On a busy machine a connection may be given up before it stands.
  for (;;) {
    const begun = Promise.withResolvers<'drained' | 'closed'>()
    const session = await network.open({ sessionId: 's', instance: 's' }, ({ kind }) => {
      if (kind === 'drained' || kind === 'closed') begun.resolve(kind)
    })
    if ((await begun.promise) === 'drained') return (chat, text, id) => session.send(chat, plain(text), id)
  }
}

async function openStock(): Promise<Send> {
  applyLibraryPatches()
  const account = new Account({ keys, sessionId: 's', hold: nodeHold(epoch), clock, log, onFenced: () => undefined })
  const creds = await account.loadCreds()
  if (!creds) throw new Error('the account is not linked')
  const connectionKeys = new ConnectionKeys({ keys: account.keys, creds })
  const endpoint = prepareEndpoint(settings, 20_000)
  const nothing = { groupMetadata: () => undefined, sentMessage: () => Promise.resolve(undefined) }
  const config = socketConfig({ endpoint, version: defaultVersion, account, creds, connectionKeys, ...nothing })
  const socket = makeWASocket(config)
  socket.ev.on('creds.update', () => void connectionKeys.saveCreds())
  await socket.waitForConnectionUpdate((update) => Promise.resolve(update.receivedPendingNotifications === true))
  return (chat, text, messageId) => socket.sendMessage(chat, { text }, { messageId })
}

process.on('disconnect', () => process.exit(0))
const send = way === 'stock' ? await openStock() : await openProtected()
process.send?.('ready')
while (targets.length > 0) {
  const target = targets[random.below(targets.length)] ?? ''
  const id = `3EB0${random.hex(9)}`
  await send(target, `text ${id}`, id).catch(() => undefined)
  await pause(random.below(5))
}
