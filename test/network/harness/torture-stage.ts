// People, a group and an account on a simulated network, and a client process to be killed among them.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { newLocation } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { settingsFor, storeLinked } from './bed.ts'
import type { ClientOptions } from './client-process.ts'

const script = fileURLToPath(new URL('./client-process.ts', import.meta.url))

export type EventContext = { sim: SimNetwork; phone: SimPhone; people: SimPerson[]; group: SimGroup }

export async function stage(
  stack: AsyncDisposableStack,
  way: ClientOptions['way'],
): Promise<EventContext & { options: ClientOptions }> {
  const sim = stack.use(await SimNetwork.start({ seed: 'torture' }))
  const { location } = stack.use(await newLocation('sqlite'))
  await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  const epoch = (await new LeaseStore(database).acquire('torture', 600_000)) ?? 0
  const phone = sim.account({ phone: '5511999990001' })
  const store = new SessionKeyStore(database)
  await storeLinked(sim, phone, (writes) => store.save(epoch, 's', writes))
  const people = [1, 2, 3].map((n) => sim.person({ phone: `551188888000${n}` }))
  const [first, ...others] = people
  assert.ok(first)
  const group = sim.group('Team', first, [phone, ...others])
  const targets = [...people.map(({ user }) => user.pnJid), group.jid]
  return { sim, phone, people, group, options: { location, settings: settingsFor(sim), epoch, seed: '', targets, way } }
}

/** A client that is connected; ended with SIGKILL by `end`. */
export async function startClient(options: ClientOptions): Promise<{ child: ChildProcess; end: () => Promise<void> }> {
  const child = fork(script, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('the client did not start')))])
  return {
    child,
    async end() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
