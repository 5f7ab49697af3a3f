// One call of every method of every store, and whether its caller repeats it when the answer to its commit is lost.

import type { EngineName } from '../../../src/storage/database.ts'
import { accountCalls } from './account-calls.ts'
import type { StoreCall } from './all-stores.ts'
import { dateCalls } from './date-calls.ts'
import { historyCalls } from './history-calls.ts'
import { importCalls } from './import-calls.ts'
import { jobCalls } from './job-calls.ts'
import { labelCalls } from './label-calls.ts'
import { liveCalls } from './live-calls.ts'
import { messageCalls } from './message-calls.ts'
import { nodeCalls } from './node-calls.ts'
import { outboxCalls } from './outbox-calls.ts'

export const storeCalls: Readonly<Record<string, StoreCall>> = {
  ...{ ...accountCalls, ...messageCalls, ...outboxCalls, ...historyCalls, ...jobCalls, ...importCalls, ...dateCalls },
  ...labelCalls,
  ...liveCalls,
  ...nodeCalls,
}

/** The calls that this engine can answer. */
export function callsOn(engine: EngineName): [name: string, call: StoreCall][] {
  return Object.entries(storeCalls).filter(([, call]) => call.engine === undefined || call.engine === engine)
}
