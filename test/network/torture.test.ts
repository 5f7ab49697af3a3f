// The process is killed in the middle of traffic, again and again: no ratchet is damaged, and without protection one is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { rounds } from '../harness/rounds.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { plain } from './harness/contents.ts'
import { every, TortureBed } from './harness/torture-bed.ts'

const kills = rounds({ gate: 4, long: 12 })
const saveMs = 40

/** Lets a client live for a while among people who write to it, and kills it just after a frame has left. */
async function oneLife(bed: TortureBed, life: number, random: SeededRandom): Promise<void> {
  const { phone, people, group } = bed
  await using stack = new AsyncDisposableStack()
  stack.use(await bed.startClient(`life ${life}`, bed.targets))
  stack.use(
    every(8, () => {
      const person = people[random.below(people.length)]
      person?.text(random.below(3) === 0 ? group : phone, 'in')
    }),
  )
  const [reader] = people
  assert.ok(reader)
  for (let left = 2 + random.below(6); left > 0; left--) {
    await reader.messages.waitAfter(reader.messages.length, 'the next message', () => true)
  }
}

function unreadable(people: readonly SimPerson[]): number {
  return people.reduce((sum, person) => sum + person.undecryptable.length, 0)
}

test(`after ${kills} kills every message of ours was readable, and messages pass both ways`, async () => {
  await using bed = await TortureBed.open('protected', saveMs)
  const { people, phone, group } = bed
  const random = new SeededRandom('kills')
  for (let life = 0; life < kills; life++) await oneLife(bed, life, random)
  assert.equal(unreadable(people), 0, JSON.stringify(people.flatMap((one) => one.undecryptable.entries)))

  await using stack = new AsyncDisposableStack()
  const { line } = await bed.takeOver(stack)
  for (const [index, person] of people.entries()) {
    const fresh = [person.text(phone, 'fresh').id, person.text(group, 'fresh').id]
    for (const id of fresh) {
      const first = await person.receipts.waitFor(`a receipt for ${id}`, (one) => one.id === id)
      assert.equal(first.type, 'delivered')
    }
    await line.session.send(person.user.pnJid, plain('fresh'), `3EB0FRESH${index}`)
    await person.messages.waitFor('the fresh message', (one) => one.id === `3EB0FRESH${index}`)
  }
  assert.equal(unreadable(people), 0)
})

/** Lets a client write for a while, and kills it while it stores keys. Ends early when a message cannot be read. */
async function killDuringSave(bed: TortureBed, life: number): Promise<void> {
  const { people } = bed
  const read = () => people.reduce((sum, { messages }) => sum + messages.length, 0)
  await using client = await bed.startClient(`life ${life}`, bed.targets)
  const before = read()
  await waitUntil('messages come, or one cannot be read', () => read() >= before + 20 || unreadable(people) > 0)
  await client.stopDisk()
}

test('kills during a save damage no ratchet', async () => {
  await using bed = await TortureBed.open('protected', saveMs)
  for (let life = 0; life < 3; life++) await killDuringSave(bed, life)
  assert.equal(unreadable(bed.people), 0)
})

test('without protection a kill during a save damages a ratchet', async () => {
  await using bed = await TortureBed.open('stock', saveMs)
  // A kill before the first save of a session damages nothing.
  for (let life = 0; life < 10 && unreadable(bed.people) === 0; life++) await killDuringSave(bed, life)
  assert.ok(unreadable(bed.people) > 0)
})
