// The client library alone: one socket per account as its documentation shows it, keys in a map, connected again when it closes.

import { readFile } from 'node:fs/promises'
import { BufferJSON, initAuthCreds, makeWASocket, WA_CERT_DETAILS } from 'baileys'
import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from 'baileys'
import { pino } from 'pino'
import { Semaphore } from '../src/lib/queues/semaphore.ts'
import { serveParent } from './child.ts'
import { ownCpuMs, ownMemory } from './own-use.ts'

type Ready = { creds: AuthenticationCreds; keys: SignalDataSet }
type Auth = { creds: AuthenticationCreds; keys: SignalKeyStore }

// As many as the service lets in: all at once would run into the library's own time limits.
const gate = new Semaphore(8)
const forever = new AbortController().signal
const logger = pino({ level: 'silent' })
const { NETWORK_URL: url = '', NETWORK_ROOT_KEY: rootKey = '' } = process.env
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex')
// The library prints keys while it works.
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) console[name] = () => undefined

function inMemory({ creds, keys: ready }: Ready): Auth {
  const values: Record<string, Record<string, unknown>> = {}
  const set = (data: SignalDataSet): void => {
    for (const [kind, entries] of Object.entries(data)) {
      const kept = (values[kind] ??= {})
      for (const [id, value] of Object.entries(entries as Record<string, unknown>)) {
        if (value === null || value === undefined) Reflect.deleteProperty(kept, id)
        else kept[id] = value
      }
    }
  }
  set(ready)
  const get: SignalKeyStore['get'] = (kind, ids) =>
    Object.fromEntries(ids.flatMap((id) => (values[kind]?.[id] === undefined ? [] : [[id, values[kind][id] as never]])))
  return { creds, keys: { get, set } }
}

/** Stays connected until the process ends; resolves when it is open for the first time. */
function stayConnected(auth: Auth, onQr: (qr: string) => void = () => undefined): Promise<void> {
  const opened = Promise.withResolvers<undefined>()
  const connect = async (): Promise<void> => {
    const leave = await gate.enter(forever)
    const socket = makeWASocket({ auth, waWebSocketUrl: url, logger })
    socket.ev.on('creds.update', (update) => {
      Object.assign(auth.creds, update)
    })
    socket.ev.on('connection.update', ({ connection, qr }) => {
      if (qr !== undefined) onQr(qr)
      if (connection === 'open') opened.resolve(undefined)
      if (connection !== undefined && connection !== 'connecting') leave()
      if (connection === 'close') void connect()
    })
  }
  void connect()
  return opened.promise
}

let pairing: Promise<void> | undefined

const desk = {
  memory: ownMemory,
  cpuMs: ownCpuMs,
  start: async (files: string[]) => {
    for (const file of files) {
      void stayConnected(inMemory(JSON.parse(await readFile(file, 'utf8'), BufferJSON.reviver) as Ready))
    }
  },
  /** The code to scan; `paired` resolves when the account is linked and open. */
  pair: () =>
    new Promise<string>((resolve) => {
      pairing = stayConnected(inMemory({ creds: initAuthCreds(), keys: {} }), resolve)
    }),
  paired: () => pairing,
}

export type BareDesk = typeof desk

serveParent(desk)
