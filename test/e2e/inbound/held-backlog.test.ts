// A long trouble in the middle of a backlog: what is received stays in the order in which it was written.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertOnceInOrder, people } from '../../harness/chats.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const chats = 3
const perChat = 10
const fastProcess = fileURLToPath(new URL('../../harness/fast-process.ts', import.meta.url))

/** Received messages cannot be stored until it is disposed of. */
async function holdStorage({ location }: TestLocation): Promise<AsyncDisposable> {
  if (location.engine === 'sqlite') {
    const holder = new DatabaseSync(location.path, { timeout: 5000 })
    holder.exec('BEGIN IMMEDIATE')
    return {
      [Symbol.asyncDispose]: () => {
        holder.close()
        return Promise.resolve()
      },
    }
  }
  const bystander = await Bystander.connect(location)
  await bystander.lock('inbox')
  return bystander
}

/** Time passes in which the simulators can answer. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

describe('storage that is away for two minutes during a backlog', () => {
  for (const engine of drawnEngines(import.meta.url)) {
    test(`changes no order, on ${engine}`, async () => {
      const clock = new LeapingClock()
      await using world = await World.open({ engine, clock })
      const { network, phone } = world
      const everybody = people(world, chats)
      let written = 0
      const write = (until: number) => {
        for (; written < until; written++) {
          for (const [at, person] of everybody.entries()) person.text(phone, `p${at} ${written}`)
        }
      }
      write(1)
      await waitUntil('the chats are known', () => world.helpdesk.messages().length === chats)
      await network.goAway()
      write(perChat / 2)
      {
        await using stack = new AsyncDisposableStack()
        stack.use(await holdStorage(world.place))
        await network.comeBack()
        await waitUntil('the backlog is handed over', async () => {
          await clock.advance(500, settle)
          return phone.companion.live
        })
        write(perChat)
        await clock.advance(120_000, settle)
      }
      await waitUntil('everything has arrived', async () => {
        await clock.advance(1000, settle)
        return world.helpdesk.messages().length >= chats * perChat
      })
      assertOnceInOrder(world, chats, perChat)
    })
  }
})

test('a process that stands still during a backlog, for longer than it waits, changes no order', async () => {
  const each = 60
  await using world = await ProcessWorld.open({ script: fastProcess })
  const { network, phone, service } = world
  await world.allReady()
  const everybody = people(world, chats)
  let written = 0
  const write = (until: number) => {
    for (; written < until; written++) {
      for (const [at, person] of everybody.entries()) person.text(phone, `p${at} ${written}`)
    }
  }
  write(1)
  await waitUntil('the chats are known', () => world.helpdesk.messages().length === chats)
  await network.goAway()
  write(each - 5)
  await network.comeBack()
  await waitUntil('the backlog is handed over', () => phone.companion.live)
  const { books } = phone.companion
  const waiting = books.size
  write(each)
  await waitUntil('some of the backlog is received', () => books.size < waiting)
  service.send('SIGSTOP')
  assert.ok(books.size > chats * 5, 'some of the backlog is not received yet')
  // Forty seconds on the clock of the process.
  await new Promise((resolve) => setTimeout(resolve, 4000))
  service.send('SIGCONT')
  await waitUntil('everything has arrived', () => world.helpdesk.messages().length >= chats * each)
  assertOnceInOrder(world, chats, each)
})
