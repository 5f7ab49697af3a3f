// Adds what the library cannot be told: for how many days a pairing asks the phone for its history.
//
// The library writes the properties of a new companion itself and has an option only for "the full history or not". The patch
// adds the days to the properties. The connection that registers is known, because everything that a connection starts runs in its
// asynchronous context.

import { AsyncLocalStorage } from 'node:async_hooks'
import { proto } from '../library.ts'

const asked = new AsyncLocalStorage<number | null>()

/** Runs work whose pairing asks for so many days. Null: it does not ask. */
export function askForDays<Result>(days: number | null, work: () => Result): Result {
  return asked.run(days, work)
}

export function writeHistoryDays(): void {
  const encode = proto.DeviceProps.encode.bind(proto.DeviceProps)
  proto.DeviceProps.encode = (props, writer) => {
    const days = asked.getStore()
    if (days == null) return encode(props, writer)
    const historySyncConfig = { ...props.historySyncConfig, fullSyncDaysLimit: days }
    return encode({ ...props, historySyncConfig }, writer)
  }
}
