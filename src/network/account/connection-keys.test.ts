import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { initAuthCreds } from '../library/library.ts'
import { AccountKeys } from './account-keys.ts'
import { ConnectionKeys } from './connection-keys.ts'
import { nodeHold } from '../../../test/harness/holds.ts'

test('a step that waits when its connection ends does not run, and the account goes on', async () => {
  const store = { load: () => Promise.resolve([]), save: () => Promise.resolve() }
  const account = { keys: store, sessionId: 's', hold: nodeHold(), clock: new ManualClock(), log: silentLog }
  const keys = new AccountKeys({ ...account, onFenced: () => undefined })
  const old = new ConnectionKeys({ keys, creds: initAuthCreds() })
  const [started, free] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const ran: string[] = []
  const first = old.runStep(() => {
    started.resolve(undefined)
    return free.promise
  })
  const waiting = [old.runStep.bind(old), old.runStepUnsynced.bind(old)].map((run) =>
    assert.rejects(
      run(() => Promise.resolve(ran.push('late'))),
      /this connection has ended/,
    ),
  )
  await started.promise
  old.close()
  free.resolve(undefined)
  await Promise.all([first, ...waiting])
  await new ConnectionKeys({ keys, creds: initAuthCreds() }).runStep(() => Promise.resolve(ran.push('next')))
  assert.deepEqual(ran, ['next'])
})
