// An account of the client library alone, as its documentation shows it: credentials from a file, keys in a map.

import { BufferJSON, makeWASocket, WA_CERT_DETAILS } from 'baileys'
import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from 'baileys'
import { readFile } from 'node:fs/promises'
import { pino } from 'pino'

const { NETWORK_URL: url = '', NETWORK_ROOT_KEY: rootKey = '' } = process.env
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex')
// The library prints keys while it works.
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) console[name] = () => undefined

export type BareSocket = ReturnType<typeof makeWASocket>

export async function connectBare(file: string): Promise<BareSocket> {
  const { creds, keys } = JSON.parse(await readFile(file, 'utf8'), BufferJSON.reviver) as {
    creds: AuthenticationCreds
    keys: SignalDataSet
  }
  const auth = { creds, keys: inMemory(keys) }
  const socket = makeWASocket({ auth, waWebSocketUrl: url, logger: pino({ level: 'silent' }) })
  socket.ev.on('creds.update', (update) => {
    Object.assign(creds, update)
  })
  return socket
}

function inMemory(ready: SignalDataSet): SignalKeyStore {
  const values = new Map<string, unknown>()
  const set = (data: SignalDataSet): void => {
    for (const [kind, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries as Record<string, unknown>)) values.set(`${kind} ${id}`, value)
    }
  }
  set(ready)
  return {
    set,
    get: (kind, ids) =>
      Object.fromEntries(
        ids.flatMap((id) => (values.get(`${kind} ${id}`) == null ? [] : [[id, values.get(`${kind} ${id}`) as never]])),
      ),
  }
}
