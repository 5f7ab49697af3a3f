import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { noLogouts } from '../../test/harness/no-logouts.ts'
import { allDuties } from '../../test/harness/duties.ts'
import { silentLog } from '../../test/harness/logs.ts'
import { sampleAudit, sampleInstance } from '../../test/harness/samples.ts'
import { ScriptedNetwork, authenticated, closed, code, jid, paired } from '../../test/harness/scripted-network.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { SessionSignal } from '../core/network.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { LinkedAccount } from './linked-account.ts'
import { PendingLogouts } from './pending-logouts.ts'
import { Reachability } from './reachability.ts'
import { holdOf, holds } from '../../test/harness/holds.ts'

/** Storage whose writes take until the test lets them through. */
class ScriptedStore {
  isAway = false
  /** The changes that are stored, oldest first. */
  readonly stored: InstanceChanges[] = []
  #held: PromiseWithResolvers<void> | undefined

  hold(): void {
    this.#held ??= Promise.withResolvers()
  }

  letGo(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  async update(_hold: Hold, changes: InstanceChanges): Promise<void> {
    await this.#held?.promise
    if (this.isAway) throw new Error('storage is away')
    this.stored.push(changes)
  }

  keptSessions(): Promise<never[]> {
    return Promise.resolve([])
  }
}

function setUp(record: Partial<InstanceRow> = {}, { asksHistory = true } = {}) {
  const clock = new ManualClock()
  const network = new ScriptedNetwork()
  const store = new ScriptedStore()
  const shared = { network, clock, ...holds, hold: holdOf('a'), random: () => 0.5, log: silentLog }
  const events: string[] = []
  const account = new LinkedAccount(
    {
      ...shared,
      instances: store as unknown as InstanceStore,
      pendingLogouts: new PendingLogouts({ ...shared, logouts: noLogouts, duties: allDuties }),
      gate: new Semaphore(4),
      qrLifetimeMs: 20_000,
      asksHistory,
      lifecycle: {
        prepare: ({ name, ownerTag }, event, extras = {}) => ({
          ...{ event, instance: name, ownerTag, extras },
          deliveries: [],
        }),
        stored: (announcements) => void events.push(...announcements.map(({ event }) => event)),
      },
      graces: { unreachableMs: 60_000, reconnectedMs: 5000 },
      reachability: new Reachability(shared),
      onChange: () => undefined,
    },
    { ...sampleInstance('a'), state: 'qr_pending', ...record },
  )
  /** Lets everything that can go on without time passing go on. */
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
  }
  return { clock, network, store, events, account, settle }
}

const linked = { state: 'disconnected', sessionId: 'stored', jid, pairedAt: 1, readyAt: 2 } as const

/** A pairing is open beside a stored session whose next attempt is under way. */
async function pairingBeside() {
  const stage = setUp(linked)
  await stage.account.boot(0)
  await stage.settle()
  stage.network.last.say(closed('transient'))
  await stage.settle()
  await stage.account.requestPairing()
  await stage.settle()
  const pairing = stage.network.last
  await stage.clock.advance(1000)
  await stage.settle()
  assert.equal(stage.network.last.sessionId, 'stored')
  return { ...stage, pairing, attempt: stage.network.last }
}

test('an account that another process holds is not opened again, and nothing is told of it', async () => {
  const { account, network, store, clock, events, settle } = setUp(linked)
  let attempts = 0
  network.open = () => {
    attempts++
    return Promise.reject(new NotHeldError('a'))
  }
  store.update = () => Promise.reject(new NotHeldError('a'))
  await account.boot(0)
  await settle()
  await clock.advance(3_600_000)
  assert.equal(attempts, 1)
  assert.deepEqual(events, [])
})

describe('a scanned account', () => {
  test('logs in when the network does not close the pairing', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(paired)
    await settle()
    await clock.advance(15_000)
    await settle()
    assert.equal(network.opened.length, 2)
    network.last.say(authenticated)
    assert.equal(account.state, 'ready')
  })

  test('logs in at once when a restart is requested before the network closes the pairing', async () => {
    const { account, network, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(paired)
    await settle()
    assert.equal(await account.restart(), true)
    await settle()
    assert.equal(network.last.sessionId, account.record.sessionId)
    network.last.say(authenticated)
    assert.equal(account.state, 'ready')
    assert.equal(network.opened.filter(({ isOpen }) => isOpen).length, 1)
  })
})

describe('the history', () => {
  const enabled = { isHistoryEnabled: true, historyDays: 5 }

  test('is asked for by a pairing, and the record says for how many days', async () => {
    const { account, network, settle } = setUp(enabled)
    await account.requestPairing()
    await settle()
    assert.equal(network.last.historyDays, 5)
    await account.change({ historyDays: 9 }, sampleAudit())
    network.last.say(paired)
    await settle()
    assert.equal(account.record.historyAskedDays, 5)
    network.last.say(closed('restart'))
    await settle()
    assert.equal(network.last.historyDays, null, 'an account that is linked asks for nothing')
  })

  test('is not asked for by an instance that does not want it, or while imports are switched off', async () => {
    const stages = [setUp({ historyAskedDays: 3 }), setUp({ ...enabled, historyAskedDays: 3 }, { asksHistory: false })]
    for (const { account, network, settle } of stages) {
      await account.requestPairing()
      await settle()
      assert.equal(network.last.historyDays, null)
      network.last.say(paired)
      await settle()
      assert.equal(account.record.historyAskedDays, 0)
    }
  })

  test('was asked for by a pairing that a process before left scanned', async () => {
    const { account, network, settle } = setUp({ ...enabled, pairingSessionId: 'staged' })
    network.stored.set('staged', jid)
    await account.boot(0)
    await settle()
    assert.equal(account.record.historyAskedDays, 5)
  })
})

describe('a pairing beside a stored session', () => {
  test('that is scanned wins over a login that comes while the scan is being stored', async () => {
    const { account, network, store, pairing, attempt, settle } = await pairingBeside()
    store.hold()
    pairing.say(paired)
    await Promise.resolve()
    attempt.say(authenticated)
    store.letGo()
    await settle()
    pairing.say(closed('restart'))
    await settle()
    assert.equal(network.last.sessionId, pairing.sessionId)
    assert.deepEqual(network.forgotten, [], 'the new session has not logged in yet')
    network.last.say(authenticated)
    assert.equal(account.state, 'ready')
    await settle()
    assert.deepEqual(network.forgotten, ['stored'])
  })

  test('that is scanned just after the stored session has logged in is adopted', async () => {
    const { account, network, pairing, attempt, settle } = await pairingBeside()
    attempt.say(authenticated)
    pairing.say(paired)
    await settle()
    pairing.say(closed('restart'))
    await settle()
    assert.equal(account.record.sessionId, pairing.sessionId)
    assert.ok(!network.forgotten.includes(pairing.sessionId))
    network.last.say(authenticated)
    assert.equal(account.state, 'ready')
  })

  test('that is scanned survives the end of the session it replaces', async () => {
    const { account, network, store, pairing, attempt, events, settle } = await pairingBeside()
    store.hold()
    pairing.say(paired)
    await Promise.resolve()
    attempt.say(closed('invalidated'))
    store.letGo()
    await settle()
    pairing.say(closed('restart'))
    await settle()
    network.last.say(authenticated)
    assert.equal(account.state, 'ready')
    assert.ok(!events.includes('logged_out'))
  })

  test('is not opened when the stored session comes back first', async () => {
    const { account, network, store, clock, settle } = setUp(linked)
    await account.boot(0)
    await settle()
    network.last.say(closed('transient'))
    await settle()
    store.hold()
    const asked = account.requestPairing()
    await clock.advance(1000)
    network.last.say(authenticated)
    store.letGo()
    await asked
    await settle()
    assert.equal(account.state, 'connected')
    assert.deepEqual(
      network.opened.filter(({ isOpen }) => isOpen).map(({ sessionId }) => sessionId),
      ['stored'],
    )
    assert.equal(account.record.pairingSessionId, null)
  })
})

describe('a scanned session that the network does not know', () => {
  test('is replaced by the session before, which is shown as it was', async () => {
    const { account, network, pairing, events, settle } = await pairingBeside()
    network.stored.set('stored', jid)
    const { pairedAt, readyAt } = account.record
    pairing.say({ kind: 'paired', jid: 'other@s.whatsapp.net' })
    await settle()
    pairing.say(closed('restart'))
    await settle()
    assert.equal(account.record.jid, 'other@s.whatsapp.net')
    network.last.say(closed('invalidated'))
    await settle()
    assert.match(account.record.lastError ?? '', /the one before is used again/)
    assert.equal(network.last.sessionId, 'stored')
    network.last.say(authenticated)
    network.last.say({ kind: 'drained' })
    await settle()
    assert.equal(account.state, 'ready')
    const { sessionId, previousSessionId, ...now } = account.record
    assert.deepEqual([sessionId, previousSessionId, now.jid], ['stored', null, jid])
    assert.deepEqual([now.pairedAt, now.readyAt, now.lastError], [pairedAt, readyAt, null])
    assert.deepEqual(network.forgotten, [pairing.sessionId])
    assert.deepEqual(events, ['paired'])
  })

  test('does not cost the session before at the start either', async () => {
    const { account, network, settle } = setUp({ ...linked, pairingSessionId: 'staged' })
    network.stored.set('stored', jid).set('staged', jid)
    await account.boot(0)
    await settle()
    assert.equal(network.last.sessionId, 'staged')
    assert.deepEqual(network.forgotten, [])
    network.last.say(closed('invalidated'))
    await settle()
    assert.equal(network.last.sessionId, 'stored')
    network.last.say(authenticated)
    assert.equal(account.state, 'connected')
  })

  test('and a second one are replaced by the last session that had logged in', async () => {
    const { account, network, pairing, settle } = await pairingBeside()
    network.stored.set('stored', jid)
    pairing.say(paired)
    await settle()
    pairing.say(closed('restart'))
    await settle()
    // A restart of the process shows the unproven session as disconnected, which allows another pairing.
    const again = setUp({ ...account.record })
    again.network.stored.set('stored', jid)
    await again.account.boot(0)
    await again.settle()
    again.network.last.say(closed('transient'))
    await again.settle()
    await again.account.requestPairing()
    await again.settle()
    const second = again.network.last
    second.say(paired)
    await again.settle()
    assert.deepEqual(again.network.forgotten, [pairing.sessionId])
    second.say(closed('restart'))
    await again.settle()
    again.network.last.say(closed('banned'))
    await again.settle()
    assert.equal(again.network.last.sessionId, 'stored')
    assert.deepEqual(again.events.toSorted(), ['paired', 'strike'])
  })

  test('is logged out together with the session before on request', async () => {
    const { account, network, pairing, settle } = await pairingBeside()
    pairing.say(paired)
    await settle()
    pairing.say(closed('restart'))
    await settle()
    await account.logout('api')
    assert.equal(account.state, 'logged_out')
    assert.deepEqual(network.forgotten.toSorted(), [pairing.sessionId, 'stored'].toSorted())
    assert.equal(account.record.previousSessionId, null)
  })
})

describe('a temporary ban', () => {
  const ban = (until: number): SessionSignal => ({
    kind: 'closed',
    closing: { cause: 'temporary_ban', code: 402, reason: 'banned', until },
  })
  const days40 = 40 * 86_400_000

  test('delays the connection after a restart, too, and is announced once', async () => {
    const first = setUp(linked)
    await first.account.boot(0)
    await first.settle()
    first.network.last.say(ban(first.clock.now() + days40))
    await first.settle()
    assert.equal(first.account.record.retryAt, first.clock.now() + days40)

    const { account, network, clock, events, settle } = setUp({ ...first.account.record })
    await account.boot(0)
    await settle()
    assert.deepEqual([account.state, account.record.lastError], ['disconnected', 'banned'])
    await clock.advance(days40 - 1)
    assert.equal(network.opened.length, 0)
    await clock.advance(1)
    await settle()
    assert.equal(network.opened.length, 1)
    assert.equal(account.record.retryAt, null)
    // Strike and drop were told by the process before.
    assert.deepEqual(events, ['unreachable'])
  })

  test('does not delay a restart on request', async () => {
    const { account, network, clock, settle } = setUp({ ...linked, retryAt: Date.UTC(2030, 0) })
    assert.ok(clock.now() < Date.UTC(2030, 0))
    await account.boot(0)
    await settle()
    assert.equal(await account.restart(), true)
    await settle()
    assert.equal(network.opened.length, 1)
  })
})

describe('a pairing', () => {
  test('asks the network for a code only after its session id is stored', async () => {
    const { account, network, store, clock, settle } = setUp()
    const storedIds = () => store.stored.flatMap(({ pairingSessionId }) => pairingSessionId ?? [])
    store.hold()
    const asked = account.requestPairing()
    await settle()
    assert.equal(network.opened.length, 0, 'while the write is under way')
    store.isAway = true
    store.letGo()
    await clock.advance(10_000)
    assert.equal(network.opened.length, 0, 'while storage refuses the write')
    store.isAway = false
    await clock.advance(10_000)
    await asked
    await settle()
    assert.deepEqual(storedIds(), [network.last.sessionId])
    network.last.say(code)
    assert.equal(account.qr?.text, 'code')
  })

  test('shows no code of a connection that has ended', async () => {
    const { account, network, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(code)
    assert.equal(account.qr?.text, 'code')
    network.last.say(closed('transient'))
    await settle()
    assert.equal(account.qr, null)
    assert.equal(account.record.lastError, 'transient')
  })

  test('ends when the network refuses this client, and says why', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(closed('client_refused'))
    await settle()
    await clock.advance(60_000)
    assert.equal(account.state, 'disconnected')
    assert.equal(account.record.lastError, 'client_refused')
    assert.equal(network.opened.length, 1)
  })

  test('whose connection stops answering after its first code shows codes of a new one', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(code)
    network.isDeaf = true
    await clock.advance(30_000)
    await settle()
    assert.equal(account.qr?.text, undefined)
    assert.match(account.record.lastError ?? '', /ping/)
    network.isDeaf = false
    await clock.advance(1000)
    await settle()
    assert.equal(network.opened.length, 2)
    network.last.say({ kind: 'qr', text: 'another' })
    assert.equal(account.qr?.text, 'another')
    await clock.advance(60_000)
    assert.equal(network.opened.length, 2, 'one that answers stays')
  })

  test('gives a code to type as soon as the network has made its offer, also on the second connection', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    const asked = account.requestPairingCode('5511999990001')
    await settle()
    network.last.say(closed('transient'))
    await settle()
    await clock.advance(1000)
    await settle()
    network.codeExpiresAt = clock.now() + 50_000
    network.last.say(code)
    assert.deepEqual(await asked, { code: 'code', expiresAt: network.codeExpiresAt })
    network.codeExpiresAt = Infinity
    const windowEndsAt = clock.now() - 1000 + 6 * 20_000 + 15_000
    const again = await account.requestPairingCode('5511999990001')
    assert.deepEqual(again, { code: 'code', expiresAt: windowEndsAt })
  })

  test('gives a code of the next connection while the one before is being closed', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    await settle()
    network.last.say(code)
    const closing = Promise.withResolvers<undefined>()
    network.closing = closing.promise
    network.last.say(closed('transient'))
    await settle()
    assert.equal(network.last.isOpen, false)
    const asked = account.requestPairingCode('5511999990001')
    closing.resolve(undefined)
    await settle()
    await clock.advance(1000)
    await settle()
    assert.equal(network.opened.length, 2)
    network.last.say(code)
    assert.equal((await asked)?.code, 'code')
  })

  test('reports when the network makes no offer in time, and when it ends meanwhile', async () => {
    const { account, clock, settle } = setUp()
    await account.requestPairing()
    await settle()
    const late = assert.rejects(account.requestPairingCode('1') ?? Promise.resolve(), {
      code: 'SERVICE_NETWORK_FAILED',
      message: /no pairing within 20 s/,
    })
    await clock.advance(20_000)
    await late
    const ended = assert.rejects(account.requestPairingCode('1') ?? Promise.resolve(), { code: 'SERVICE_NOT_PAIRING' })
    await account.close()
    await ended
    assert.equal(account.requestPairingCode('1'), undefined)
  })

  test('tries again when no code comes', async () => {
    const { account, network, clock, settle } = setUp()
    await account.requestPairing()
    await clock.advance(31_000)
    await settle()
    assert.equal(network.opened.length, 2)
    network.last.say(code)
    assert.equal(account.qr?.text, 'code')
  })
})

describe('a linked account', () => {
  test('announces once that it was logged out on request', async () => {
    const { account, network, store, events, settle } = setUp(linked)
    await account.boot(0)
    await settle()
    network.last.say(authenticated)
    await settle()
    store.hold()
    const asked = account.logout('api')
    await settle()
    store.letGo()
    assert.equal(await asked, 'told')
    await settle()
    assert.deepEqual(
      events.filter((event) => event === 'logged_out'),
      ['logged_out'],
    )
  })

  test('whose keys are gone is logged out', async () => {
    const { account, network, settle } = setUp(linked)
    await account.boot(0)
    await settle()
    network.last.say(code)
    await settle()
    assert.equal(account.state, 'logged_out')
    assert.match(account.record.lastError ?? '', /pair it again/)
  })

  test('keeps one timer for its probes as long as it is connected', async () => {
    const { account, network, clock, settle } = setUp(linked)
    await account.boot(0)
    await settle()
    network.last.say(authenticated)
    await clock.advance(60_000)
    const cancelled: unknown[] = []
    const after = clock.after.bind(clock)
    clock.after = (ms, work) => {
      const cancel = after(ms, work)
      return () => {
        cancelled.push(cancel)
        cancel()
      }
    }
    await clock.advance(100 * 30_000)
    cancelled.length = 0
    await account[Symbol.asyncDispose]()
    assert.ok(cancelled.length <= 3, `${cancelled.length} timers were kept`)
  })
})

describe('an account that ends', () => {
  test('does not wait for storage that is away', async () => {
    const { account, store, settle } = setUp()
    store.isAway = true
    const asked = account.requestPairing()
    await settle()
    await account[Symbol.asyncDispose]()
    await asked
  })

  test('does not wait for a connection that cannot be opened', async () => {
    const { account, network, settle } = setUp(linked)
    const storage = Promise.withResolvers<undefined>()
    network.storage = storage.promise
    await account.boot(0)
    await settle()
    await account[Symbol.asyncDispose]()
    storage.resolve(undefined)
    await settle()
    assert.equal(network.last.isOpen, false, 'what was opened too late is closed')
  })

  test('takes no more commands', async () => {
    const { account, network } = setUp({ state: 'logged_out' })
    await account.close()
    for (const command of [account.requestPairing(), account.restart(), account.logout('api')]) {
      await assert.rejects(command, { code: 'SERVICE_INSTANCE_NOT_FOUND' })
    }
    assert.equal(network.opened.length, 0)
  })
})
