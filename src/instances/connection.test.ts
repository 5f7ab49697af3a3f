// What a node that is cut off does to a connection, and how the connection comes back.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { silentLog } from '../../test/harness/logs.ts'
import { authenticated, closed, jid, ScriptedNetwork } from '../../test/harness/scripted-network.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import { Connection } from './connection.ts'

/** A connection on a network that refuses to open while `node.isCutOff`. */
function setUp() {
  const clock = new ManualClock()
  const network = new ScriptedNetwork()
  const node = { isCutOff: false }
  const told: string[] = []
  const note = (what: string) => () => void told.push(what)
  const connection = new Connection({
    ...{ instance: 'a', sessionId: 's', networkProxy: () => null, clock, random: () => 0.5, log: silentLog },
    gate: new Semaphore(1),
    network: {
      open: (...session) => {
        if (node.isCutOff) return Promise.reject(new Error('cut off'))
        return network.open(...session)
      },
    },
    events: {
      attempt: note('attempt'),
      authenticated: note(`authenticated ${jid}`),
      drained: note('drained'),
      dropped: note('dropped'),
      reopening: note('reopening'),
      invalidated: note('invalidated'),
    },
  })
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
  }
  const isolate = async () => {
    node.isCutOff = true
    connection.cutOff()
    await settle()
  }
  const goOn = async () => {
    node.isCutOff = false
    connection.goOn()
    await settle()
  }
  return { clock, network, connection, settle, isolate, goOn }
}

async function online() {
  const stage = setUp()
  stage.connection.start()
  await stage.settle()
  stage.network.last.say(authenticated)
  return stage
}

describe('a node that is cut off', () => {
  test('closes the connection without any wait, and opens none until it goes on', async () => {
    const { network, clock, isolate, goOn } = await online()
    await isolate()
    assert.equal(network.last.isOpen, false)
    await clock.advance(600_000)
    assert.equal(network.opened.length, 1)
    await goOn()
    assert.equal(network.opened.length, 2)
    assert.equal(network.last.isOpen, true)
  })

  test('has one connection after it was cut off several times', async () => {
    const { network, clock, isolate, goOn } = await online()
    for (let time = 0; time < 3; time++) {
      await isolate()
      await clock.advance(1500)
      await goOn()
      network.last.say(authenticated)
      await clock.advance(60_000)
    }
    assert.equal(network.opened.length, 4)
    assert.equal(network.opened.filter(({ isOpen }) => isOpen).length, 1)
  })

  test('closes a session that is just being opened', async () => {
    const { network, connection, settle, isolate } = setUp()
    const storage = Promise.withResolvers<undefined>()
    network.storage = storage.promise
    connection.start()
    await settle()
    await isolate()
    storage.resolve(undefined)
    await settle()
    assert.deepEqual(
      network.opened.map(({ isOpen }) => isOpen),
      [false],
    )
  })

  test('does not end a pause that the network asked for', async () => {
    const { network, clock, settle, isolate, goOn } = await online()
    network.last.say(closed('replaced'))
    await settle()
    await isolate()
    await goOn()
    assert.equal(network.opened.length, 1)
    await clock.advance(60_000)
    await settle()
    assert.equal(network.opened.length, 2)
  })
})
