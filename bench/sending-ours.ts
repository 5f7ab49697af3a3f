// The network room of the service on an embedded database: sends as the bare library does, and every step is on disk.

import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { encodeKey } from '../src/network/account/key-codec.ts'
import { BufferJSON } from '../src/network/library/library.ts'
import { WhatsappNetwork } from '../src/network/whatsapp-network.ts'
import { openDatabase } from '../src/storage/database.ts'
import { ClientVersionStore } from '../src/storage/stores/accounts/client-version-store.ts'
import { JournalStore } from '../src/storage/stores/messages/journal-store.ts'
import { LeaseStore } from '../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../src/storage/stores/accounts/session-key-store.ts'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'
import { holdOf, holdsAt, nodeHold } from '../test/harness/holds.ts'

const {
  NETWORK_URL: url = '',
  NETWORK_ROOT_KEY: rootKey = '',
  CREDENTIALS: credentials = '',
  DATABASE: path = '',
} = process.env
const log = createLog({ level: 'silent', format: 'json' })
const database = await openDatabase({ location: { engine: 'sqlite', path }, encryptionKeys: [], log })
const epoch = (await new LeaseStore(database).acquire('bench', 600_000)) ?? 0
const keys = new SessionKeyStore(database)
const { creds, keys: held } = JSON.parse(credentials, BufferJSON.reviver) as { creds: object; keys: object }
const writes = Object.entries({ ...held, creds: { creds } } as Record<string, Record<string, unknown>>).flatMap(
  ([kind, values]) => Object.entries(values).map(([id, value]) => ({ kind, id, value: encodeKey(kind, value) })),
)
await keys.save(holdOf('a', epoch), 's', writes)
const settings = { url, rootKey, caFile: '', version: [], proxy: null }
const network = new WhatsappNetwork({
  keys,
  journal: new JournalStore(database),
  versions: new ClientVersionStore(database, () => nodeHold(epoch)),
  ...holdsAt(() => epoch),
  clock: systemClock,
  log,
  settings,
})
const opened = Promise.withResolvers<undefined>()
const session = await network.open({ sessionId: 's', instance: 's' }, ({ kind }) => {
  if (kind === 'drained') opened.resolve(undefined)
})

const desk = {
  cpuMs: ownCpuMs,
  open: () => opened.promise,
  send: async ({ chat, count }: { chat: string; count: number }) => {
    for (let n = 0; n < count; n++) {
      await session.send(
        chat,
        { type: 'text', text: `message ${n}`, mentions: [], quote: null },
        session.newMessageId(),
      )
    }
  },
}

export type OursDesk = typeof desk

serveParent(desk, async () => {
  await network[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})
