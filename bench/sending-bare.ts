// The client library alone, keys in a map: sends one message after the other, each when the one before is acknowledged.

import { BufferJSON, generateMessageIDV2, makeWASocket, WA_CERT_DETAILS } from 'baileys'
import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from 'baileys'
import { pino } from 'pino'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

const { NETWORK_URL: url = '', NETWORK_ROOT_KEY: rootKey = '', CREDENTIALS: credentials = '' } = process.env
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex')
// The library prints keys while it works.
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) console[name] = () => undefined

const { creds, keys } = JSON.parse(credentials, BufferJSON.reviver) as {
  creds: AuthenticationCreds
  keys: SignalDataSet
}
const values = new Map<string, unknown>()
const set = (data: SignalDataSet): void => {
  for (const [kind, entries] of Object.entries(data)) {
    for (const [id, value] of Object.entries(entries as Record<string, unknown>)) values.set(`${kind} ${id}`, value)
  }
}
set(keys)
const get: SignalKeyStore['get'] = (kind, ids) =>
  Object.fromEntries(
    ids.flatMap((id) => (values.get(`${kind} ${id}`) == null ? [] : [[id, values.get(`${kind} ${id}`) as never]])),
  )
const socket = makeWASocket({
  auth: { creds, keys: { get, set } },
  waWebSocketUrl: url,
  logger: pino({ level: 'silent' }),
})
const opened = Promise.withResolvers<undefined>()
socket.ev.on('connection.update', ({ receivedPendingNotifications }) => {
  if (receivedPendingNotifications) opened.resolve(undefined)
})

const desk = {
  cpuMs: ownCpuMs,
  open: () => opened.promise,
  send: async ({ chat, count }: { chat: string; count: number }) => {
    for (let n = 0; n < count; n++) {
      const messageId = generateMessageIDV2(creds.me?.id)
      const acknowledged = new Promise((resolve) => socket.ws.once('CB:ack,class:message', resolve))
      await socket.sendMessage(chat, { text: `message ${n}` }, { messageId })
      await acknowledged
    }
  },
}

export type BareDesk = typeof desk

serveParent(desk)
