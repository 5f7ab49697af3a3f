// The client library alone, keys in a map, as its documentation shows it: counts the messages it hands over.

import { BufferJSON, makeWASocket, WA_CERT_DETAILS } from 'baileys'
import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from 'baileys'
import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

const { NETWORK_URL: url = '', NETWORK_ROOT_KEY: rootKey = '' } = process.env
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex')
// The library prints keys while it works.
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) console[name] = () => undefined

let received = 0

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

const desk = {
  cpuMs: ownCpuMs,
  received: () => received,
  start: async (files: string[]) => {
    for (const file of files) {
      const text = await readFile(file, 'utf8')
      const { creds, keys } = JSON.parse(text, BufferJSON.reviver) as {
        creds: AuthenticationCreds
        keys: SignalDataSet
      }
      const auth = { creds, keys: inMemory(keys) }
      const { ev } = makeWASocket({ auth, waWebSocketUrl: url, logger: pino({ level: 'silent' }) })
      ev.on('creds.update', (update) => {
        Object.assign(creds, update)
      })
      ev.on('messages.upsert', ({ messages }) => {
        received += messages.filter(({ message }) => message?.conversation ?? message?.extendedTextMessage).length
      })
    }
  },
}

export type BareDesk = typeof desk

serveParent(desk)
