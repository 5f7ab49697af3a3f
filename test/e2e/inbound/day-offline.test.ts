// An account that comes back after a day with thousands of waiting messages: all of them reach the helpdesk once and in order,
// and the service never holds more than a small part of them in memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { people } from '../../harness/chats.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { mistakesIn, noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const waiting = rounds({ gate: 300, long: 5000 })
const chats = 25
const statusText = 'my day'
const pictureBytes = 30_000
const mostGrowth = 64 * 1024 * 1024
const limitMs = rounds({ gate: 300_000, long: 1_500_000 })
const measured = fileURLToPath(new URL('../../harness/measured-process.ts', import.meta.url))

type Written = { chat: string; id: string }

class Day {
  readonly #world: ProcessWorld
  readonly #people: SimPerson[]
  readonly #groups: SimGroup[]
  readonly written: Written[] = []

  constructor(world: ProcessWorld) {
    this.#world = world
    this.#people = people(world, chats)
    const [first, ...others] = this.#people
    assert.ok(first)
    this.#groups = ['Team', 'Family'].map((name) => world.network.group(name, first, [world.phone, ...others]))
  }

  /** Every tenth message is a picture, every fifth comes in a group. Status updates come in between. */
  write(count: number): void {
    const { network, phone } = this.#world
    for (let n = 0; n < count; n++) {
      const author = this.#people[n % chats]
      const group = n % 5 === 0 ? this.#groups[n % 2] : undefined
      assert.ok(author)
      if (n % 50 === 7) {
        // The first kind cannot be opened, and its author does not send it again.
        network.fault({ kind: 'undecryptable' })
        author.status(statusText, { carrier: 'message' })
        author.status(statusText, { carrier: 'status' })
      }
      const bytes = Buffer.alloc(pictureBytes, n)
      const { id } =
        n % 10 === 3
          ? author.media(group ?? phone, 'image', { bytes, caption: `m${n}` })
          : author.text(group ?? phone, `m${n}`)
      this.written.push({ chat: group?.jid ?? author.user.phone, id })
    }
  }
}

/** The conversations of the helpdesk, compared with what was written in each chat. */
function mistakesAt({ helpdesk }: ProcessWorld, written: readonly Written[]) {
  const incoming = helpdesk.messages().filter(({ messageType, sourceId }) => messageType === 'incoming' && sourceId)
  const conversations = [...Map.groupBy(incoming, ({ conversationId }) => conversationId).values()].map((posted) =>
    posted.map(({ sourceId }) => sourceId ?? ''),
  )
  const byChat = Map.groupBy(written, ({ chat }) => chat).values()
  return mistakesIn(
    [...byChat].map((messages) => ({
      written: messages.map(({ id }) => ({ id })),
      received: conversations.find((ids) => ids.includes(messages[0]?.id ?? '')) ?? [],
    })),
  )
}

function memoryOf({ service }: ProcessWorld): number[] {
  return service.allLogged('memory').map(({ used }) => Number(used))
}

test(
  `${waiting} messages of a day offline arrive once, in order and in bounded memory`,
  { timeout: limitMs },
  async (t) => {
    await using world = await ProcessWorld.open({ script: measured, network: { logLimit: 0 } })
    const { network, helpdesk, phone } = world
    await world.allReady()
    const day = new Day(world)
    const haveArrived = () => helpdesk.messages().filter(({ sourceId }) => sourceId !== null).length
    const allArrive = () =>
      waitUntil('everything has arrived', () => haveArrived() >= day.written.length, {
        timeoutMs: limitMs,
        instead: haveArrived,
      })
    // All chats are known, and the code is warm.
    day.write(chats * 2)
    await allArrive()
    const samples = memoryOf(world).length
    await waitUntil('the memory is measured', () => memoryOf(world).length >= samples + 2)
    const before = memoryOf(world)
    await network.goAway()
    day.write(waiting)
    const { redelivered } = phone.companion.books
    const began = Date.now()
    await network.comeBack()
    await world.command('/n0/restart')
    await world.reaches('n0', (state) => state !== 'ready')
    await world.allReady(limitMs)
    assert.ok(phone.companion.live, 'ready comes after the whole backlog')
    assert.ok(phone.companion.books.redelivered - redelivered >= waiting, 'the whole backlog was delivered')
    const readyMs = Date.now() - began
    await allArrive()
    const grown = Math.max(...memoryOf(world).slice(before.length)) - Math.max(...before.slice(-2))
    t.diagnostic(
      `ready after ${readyMs} ms, all after ${Date.now() - began} ms, ${Math.round(grown / 1024 / 1024)} MB more`,
    )
    assert.deepEqual(mistakesAt(world, day.written), noMistakes)
    assert.equal(helpdesk.see.conversations().length, new Set(day.written.map(({ chat }) => chat)).size)
    assert.ok(!helpdesk.messages().some(({ content }) => content?.includes(statusText)), 'no status is posted')
    assert.ok(grown < mostGrowth, `the memory grew by ${grown} bytes`)
    await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  },
)
