// Adds what the library's schema lacks: the salt from which an account makes its tokens for strangers (Baileys #2438).
//
// The owner's phone hands the salt over twice: in the history (field 19 of HistorySync) and in the app state (the entry
// `nct_salt_sync`, field 80 of SyncActionValue). The library decodes both and drops the salt. The patch reads the salt from
// the same bytes. The connection that decodes them hears of it, because everything that a connection starts runs in its
// asynchronous context.

import { AsyncLocalStorage } from 'node:async_hooks'
import { proto } from '../library.ts'
import { wireFields } from '../wire-fields.ts'

/** Null when the phone has removed the salt. */
type SaltListener = (salt: Uint8Array | null) => void

const listeners = new AsyncLocalStorage<SaltListener>()
const historySalt = 19
const actionIndex = 1
const actionValue = 2
const actionSalt = 80
const saltBytes = 1
const saltIndex = '["nct_salt_sync"]'

/** Runs work whose decoded salts go to this listener. */
export function hearSalts<Result>(listener: SaltListener, work: () => Result): Result {
  return listeners.run(listener, work)
}

export function readSalts(): void {
  const decodeHistory = proto.HistorySync.decode.bind(proto.HistorySync)
  proto.HistorySync.decode = (bytes, length) => {
    const salt = bytes instanceof Uint8Array ? fieldOf(bytes, historySalt) : undefined
    if (salt) listeners.getStore()?.(salt)
    return decodeHistory(bytes, length)
  }
  const decodeAction = proto.SyncActionData.decode.bind(proto.SyncActionData)
  proto.SyncActionData.decode = (bytes, length) => {
    const salt = bytes instanceof Uint8Array ? saltOfAction(bytes) : undefined
    if (salt !== undefined) listeners.getStore()?.(salt)
    return decodeAction(bytes, length)
  }
}

/** Undefined for an entry about something else. */
function saltOfAction(bytes: Uint8Array): Uint8Array | null | undefined {
  const index = fieldOf(bytes, actionIndex)
  if (!index || Buffer.from(index).toString() !== saltIndex) return undefined
  const value = fieldOf(bytes, actionValue)
  const action = value && fieldOf(value, actionSalt)
  return (action && fieldOf(action, saltBytes)) ?? null
}

function fieldOf(bytes: Uint8Array, number: number): Uint8Array | undefined {
  for (const field of wireFields(bytes)) if (field.number === number) return field.value
  return undefined
}
