// Keeps the credentials and keys of a client in memory across reconnects.
import { initAuthCreds, type AuthenticationCreds, type SignalDataSet, type SignalKeyStore } from 'baileys'

export type MemoryAuth = { creds: AuthenticationCreds; keys: SignalKeyStore }

export function memoryAuth(ready?: { creds: AuthenticationCreds; keys: SignalDataSet }): MemoryAuth {
  const values = new Map<string, unknown>()
  const set = (data: SignalDataSet): void => {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries as Record<string, unknown>)) {
        if (value === null || value === undefined) values.delete(`${type} ${id}`)
        else values.set(`${type} ${id}`, value)
      }
    }
  }
  if (ready) set(ready.keys)
  const keys: SignalKeyStore = {
    get: (type, ids) => {
      const found = ids.filter((id) => values.has(`${type} ${id}`))
      return Object.fromEntries(found.map((id) => [id, values.get(`${type} ${id}`) as never]))
    },
    set,
  }
  return { creds: ready?.creds ?? initAuthCreds(), keys }
}
