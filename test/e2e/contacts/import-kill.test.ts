// kill -9 of the whole service during an import of the address book: the job goes on, and each person gets one contact.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lifelike } from '../../../sim/helpdesk/settings.ts'
import { engines } from '../../harness/databases.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { counted } from '../sync/harness/named-contacts.ts'
import { completed, importContacts, startImport } from './harness/contact-jobs.ts'

const people = rounds({ gate: 8, long: 30 })
const killAt = [1, Math.floor(people / 2)]

describe('a service killed during an import of the address book', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`makes each person a contact once on ${engine}`, { timeout: 600_000 }, async () => {
      await using world = await ProcessWorld.open({ engine, helpdesk: { quirks: lifelike } })
      const { network, helpdesk, phone } = world
      await world.allReady()
      const phones = Array.from({ length: people }, (_, at) => String(14_155_550_100 + at))
      for (const each of phones) phone.saveContact(network.person({ phone: each }), `Saved ${each}`)
      await counted(world, { skip_fullsync: people })
      const id = await startImport(world, { only: 'saved', create: true })
      for (const count of killAt) {
        const isDue = () => helpdesk.see.contacts().length > count
        await waitUntil(`more than ${count} contacts are created`, isDue, { timeoutMs: 300_000 })
        await world.kill()
      }
      const { result } = await completed(world, id)
      assert.equal(result?.['scanned'], people)
      const contacts = () => helpdesk.see.contacts().map(({ name, phoneNumber }) => `${name} ${phoneNumber ?? ''}`)
      assert.deepEqual(contacts().sort(), phones.map((each) => `Saved ${each} +${each}`).sort())
      const again = await importContacts(world, { only: 'saved', create: true })
      assert.deepEqual(again, { scanned: people, renamed: 0, created: 0, skipped: people, errors: 0 })
      assert.equal(contacts().length, people)
    })
  }
})
