// The network tells the address book once. Names that were told and not stored come again with another connection.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'

const saved = ['Ann', 'Bob', 'Eve']

/** An account whose phone has three people in its address book. */
async function openSaved(bed: Bed) {
  const phone = await bed.linked('s')
  const line = await bed.online('s')
  for (const [at, name] of saved.entries()) phone.saveContact(bed.sim.person({ phone: `551188888000${at}` }), name)
  await waitUntil('all names are told', () => namesOf(bed).length === saved.length)
  return { phone, line }
}

/** The service has noted that it has all names: each person is a version of the address book. */
async function noted(bed: Bed): Promise<void> {
  const version = Buffer.from(String(saved.length)).toString('base64')
  const holds = async () => {
    const [note] = await bed.store.load('s', 'tctoken', ['__address_book'])
    return note !== undefined && Buffer.from(note.value).toString().includes(version)
  }
  await waitUntil('the address book is noted', holds)
}

function namesOf({ names }: Bed): string[] {
  return names.flatMap(({ savedName }) => savedName ?? []).sort()
}

for (const [why, storing] of [
  ['could not be stored', () => Promise.reject(new Error('storage is away'))],
  ['were being stored when the process ended', () => Promise.withResolvers<undefined>().promise],
] as const) {
  test(`names that ${why} are told again with the next connection, as a whole address book`, async () => {
    await using bed = await Bed.open()
    const failing: Promise<undefined> = storing()
    failing.catch(() => undefined)
    bed.storingNames = failing
    const { line } = await openSaved(bed)
    await line.session.close()
    bed.names.length = 0
    bed.storingNames = undefined
    const second = await bed.online('s')
    await waitUntil('all names are told', () => namesOf(bed).length === saved.length, { instead: () => bed.names })
    assert.deepEqual(namesOf(bed), saved)
    assert.ok(bed.names.every(({ isFullSync }) => isFullSync))
    await noted(bed)
    await second.session.close()
    await assertTellsNothing(bed)
  })
}

test('names that are stored are not told again', async () => {
  await using bed = await Bed.open()
  const { line } = await openSaved(bed)
  await noted(bed)
  await line.session.close()
  await assertTellsNothing(bed)
})

/** A change after the connection shows that nothing was told before it. */
async function assertTellsNothing(bed: Bed): Promise<void> {
  bed.names.length = 0
  await bed.online('s')
  const phone = bed.sim.phone('5511999990001')
  phone?.saveContact(bed.sim.person({ phone: '5511888880009' }), 'New')
  await waitUntil('the change is told', () => namesOf(bed).includes('New'))
  assert.deepEqual(
    bed.names.map(({ savedName, isFullSync }) => [savedName, isFullSync]),
    [['New', undefined]],
  )
}
