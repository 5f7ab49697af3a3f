// Processes that share a database and a helpdesk inbox: no conversation is opened twice, and no account gets that of another one.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HelpdeskInbox } from '../../../src/core/downstream.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { person } from '../../downstream/harness/helpdesk-bed.ts'
import { engines } from '../../harness/databases.ts'
import { holdOf } from '../../harness/holds.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { SharedInbox } from './harness/shared-inbox.ts'
import type { SharingProcess } from './harness/shared-inbox.ts'

const { sourceId } = person()

/** A point at which the work of a process stops until the test lets it go on. */
class Stop {
  readonly #reached = Promise.withResolvers<true>()
  readonly #released = Promise.withResolvers<true>()
  readonly reached = this.#reached.promise

  async wait(): Promise<void> {
    this.#reached.resolve(true)
    await this.#released.promise
  }

  release(): void {
    this.#released.resolve(true)
  }
}

/** Stops when the helpdesk has the conversation, and before the process has stored it. */
function stopAfterCreation({ target: { helpdesk } }: SharingProcess, stop: Stop): Partial<HelpdeskInbox> {
  return {
    ensureConversation: async (...args) => {
      const made = await helpdesk.ensureConversation(...args)
      await stop.wait()
      return made
    },
  }
}

/** Stops when the process has searched in vain, before or after it has noted that it creates a conversation. */
function stopAtCreation({ target: { helpdesk } }: SharingProcess, stop: Stop, when: 'before' | 'after') {
  return {
    ensureConversation: (contact, mode, opening = {}) => {
      const beforeCreation = async () => {
        if (when === 'before') await stop.wait()
        await opening.beforeCreation?.()
        if (when === 'after') await stop.wait()
      }
      return helpdesk.ensureConversation(contact, mode, { ...opening, beforeCreation })
    },
  } satisfies Partial<HelpdeskInbox>
}

/** Time passes only while the process waits for it: its requests take none. */
async function whileWaiting<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  const seen = { isSettled: false }
  const note = () => {
    seen.isSettled = true
  }
  work.then(note, note)
  for (;;) {
    await waitUntil('it waits or is through', () => seen.isSettled || clock.pending > 0)
    if (seen.isSettled) return work
    await clock.advance(100)
  }
}

for (const engine of engines) {
  describe(`an inbox that processes share on ${engine}`, () => {
    test('an account waits until the account of another process has stored its conversation, and opens its own', async () => {
      await using inbox = await SharedInbox.open(engine)
      const clock = new ManualClock()
      const [one, two] = [await inbox.process(), await inbox.process(clock)]
      const stop = new Stop()
      const first = one.open('a', stopAfterCreation(one, stop))
      await stop.reached
      let second: number | undefined
      const opening = two.open('b').then((id) => (second = id))
      await waitUntil('the second one waits or is through', () => clock.pending > 0 || second !== undefined)
      assert.equal(second, undefined, 'it would have got the conversation of the first one')
      stop.release()
      const id = await first
      assert.notEqual(await whileWaiting(clock, opening), id)
      assert.equal(inbox.helpdesk.see.conversations().length, 2)
      assert.equal(inbox.helpdesk.see.contacts().length, 1)
    })

    test('the process that takes over an account looks for the conversation that the process before may still create', async () => {
      await using inbox = await SharedInbox.open(engine)
      const [one, two] = [await inbox.process(), await inbox.process()]
      const stop = new Stop()
      const first = one.open('a', stopAtCreation(one, stop, 'after'))
      await stop.reached
      await assert.rejects(two.open('a'), { failure: 'transient', message: /looking for it/ })
      stop.release()
      assert.equal(await two.openAtLast('a'), await first)
      assert.equal(inbox.helpdesk.see.conversations().length, 1)
    })

    test('without claims the process that takes over an account opens a second conversation', async () => {
      await using inbox = await SharedInbox.open(engine)
      const unguarded = () => inbox.process(systemClock, { isGuarded: false })
      const [one, two] = [await unguarded(), await unguarded()]
      const stop = new Stop()
      const first = one.open('a', stopAtCreation(one, stop, 'after'))
      await stop.reached
      const second = await two.open('a')
      stop.release()
      assert.notEqual(await first, second)
      assert.equal(inbox.helpdesk.see.conversations().length, 2)
    })

    test('many accounts of two processes that need the same contact at once get a conversation each', async () => {
      await using inbox = await SharedInbox.open(engine)
      const [one, two] = [await inbox.process(), await inbox.process()]
      const accounts = ['a', 'b', 'c', 'd', 'e', 'f']
      const opened = await Promise.all(accounts.map((name, index) => (index % 2 ? one : two).openAtLast(name)))
      assert.equal(new Set(opened).size, accounts.length)
      assert.equal(inbox.helpdesk.see.conversations().length, accounts.length)
      assert.equal(inbox.helpdesk.see.contacts().length, 1)
      const [contact] = await one.store.findContacts(inbox.destination.key, [sourceId])
      assert.deepEqual([contact?.ours, contact?.givenName], [true, 'Maria'])
    })

    test('a message and the history of an account that need a new contact at once get one conversation', async () => {
      await using inbox = await SharedInbox.open(engine)
      const one = await inbox.process()
      await Promise.all([one.openPending('a'), one.open('a')])
      const requests = inbox.helpdesk.requests.map(({ method, path }) => `${method} ${path}`)
      assert.equal(requests.filter((each) => /POST .*\/contacts$/.test(each)).length, 1)
      assert.equal(inbox.helpdesk.see.conversations().length, 1)
    })

    test('the claim of a process that died is over after 20 s of the process that waits, also when their clocks differ', async () => {
      await using inbox = await SharedInbox.open(engine)
      const [past, clock] = [new ManualClock(Date.UTC(2025, 0, 1)), new ManualClock()]
      const [one, two] = [await inbox.process(past), await inbox.process(clock)]
      const stop = new Stop()
      // It never goes on.
      void one.open('a', stopAtCreation(one, stop, 'after'))
      await stop.reached
      const refused = { failure: 'transient', message: /another account/ }
      await assert.rejects(whileWaiting(clock, two.open('b')), refused)
      await clock.advance(19_900 - 2 * clock.monotonic())
      await assert.rejects(whileWaiting(clock, two.open('b')), refused)
      assert.equal(clock.monotonic(), 19_900)
      await clock.advance(100)
      await two.open('b')
      assert.equal(inbox.helpdesk.see.conversations().length, 1)
    })

    test('a process whose search took so long that another one took the claim creates nothing', async () => {
      await using inbox = await SharedInbox.open(engine)
      const clock = new ManualClock()
      const [one, two] = [await inbox.process(), await inbox.process(clock)]
      const stop = new Stop()
      const slow = one.open('a', stopAtCreation(one, stop, 'before'))
      await stop.reached
      await assert.rejects(whileWaiting(clock, two.open('b')), { failure: 'transient' })
      await clock.advance(20_000)
      const quick = new Stop()
      const taken = two.open('b', stopAtCreation(two, quick, 'after'))
      await quick.reached
      stop.release()
      await assert.rejects(slow, { failure: 'transient', message: /another account has begun/ })
      quick.release()
      const id = await taken
      assert.notEqual(await one.openAtLast('a'), id)
      assert.equal(inbox.helpdesk.see.conversations().length, 2)
    })

    test('a creation that the helpdesk refused lets the next account go on at once', async () => {
      await using inbox = await SharedInbox.open(engine)
      // Time stands still: a wait would not end.
      const clock = new ManualClock()
      const [one, two] = [await inbox.process(clock), await inbox.process(clock)]
      const refusal = { kind: 'answer', status: 422, body: { error: 'no' }, method: 'POST', path: /\/conversations$/ }
      await inbox.helpdesk.fault({ ...refusal, kind: 'answer', times: 1 })
      await assert.rejects(one.open('a'), { status: 422 })
      await two.open('b')
      await one.open('a')
      assert.equal(inbox.helpdesk.see.conversations().length, 2)
    })

    test('two processes that merge the same contacts at once end with one contact', async () => {
      await using inbox = await SharedInbox.open(engine)
      const [one, two] = [await inbox.process(), await inbox.process()]
      const { helpdesk, destination } = one.target
      const lid = { sourceId: 'lid-77', identifier: '77@lid', identifiers: ['77@lid'], phone: null, phones: [] }
      const [keep, drop] = [await helpdesk.ensureContact(person()), await helpdesk.ensureContact(person(lid))]
      for (const { id, sourceId: at, name } of [keep, drop]) {
        await one.store.saveContact(holdOf('a'), destination.key, { sourceId: at, contactId: id, ours: true, name })
      }
      const contacts = { keep: keep.id, drop: { id: drop.id, sourceIds: [drop.sourceId] } }
      const outcomes = await Promise.all([one, two].map(({ join, target }) => join.join(contacts, target)))
      assert.deepEqual(outcomes, ['merged', 'merged'])
      assert.deepEqual(
        inbox.helpdesk.see.contacts().map(({ id }) => id),
        [keep.id],
      )
      const known = await two.store.findContacts(destination.key, [keep.sourceId, drop.sourceId])
      assert.deepEqual(
        known.map(({ contactId }) => contactId),
        [keep.id, keep.id],
      )
    })
  })
}
