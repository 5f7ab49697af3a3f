// What customers write between a logout and the next pairing reaches the helpdesk from the history of the phone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { owner } from '../../harness/instance-api.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { completedJob, importing } from './harness/watched-jobs.ts'

type Shown = { status: string; texts: string[] }

/** The conversations at the helpdesk, with the last line of each message. Notes of the service are `#`. */
function shownAt({ helpdesk }: World): Shown[] {
  return helpdesk.see.conversations().map(({ id, status }) => {
    const messages = helpdesk.messages(id).filter(({ messageType }) => messageType !== 'activity')
    const textOf = (content: string | null) => content?.split('\n').at(-1) ?? ''
    return { status, texts: messages.map((one) => (one.private ? '#' : textOf(one.content))) }
  })
}

type People = { phone: SimPhone; bob: SimPerson }

/** Bob's message of an hour ago is at the helpdesk, and the account is logged out. Then Bob and the owner write to each other. */
async function missSome(world: World, history: object): Promise<People> {
  const now = Math.floor(Date.now() / 1000)
  const ago = (seconds: number) => ({ timestamp: now - seconds })
  const bob = world.network.person({ phone: '5511988880001', pushName: 'Bob' })
  const phone = await world.pair('a', owner, { history })
  await world.arrived(bob.text(phone, 'before', ago(3600)))
  await world.drained()
  await world.command('/a/logout')
  await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
  bob.text(phone, 'missed', ago(1800))
  phone.text(bob, 'answered on the phone', ago(1700))
  bob.text(phone, 'missed too', ago(1600))
  return { phone, bob }
}

async function pairAgain(world: World, phone: SimPhone): Promise<void> {
  await world.command('/a/refresh-qr')
  await phone.scan(await world.qrText('a'))
  await world.reaches('a', 'ready')
}

const missed = ['missed', 'answered on the phone', 'missed too']

for (const engine of drawnEngines(import.meta.url)) {
  describe(`what was missed between a logout and the next pairing, on ${engine}`, { concurrency: 2 }, () => {
    test('goes into the open conversation', async () => {
      await using world = await World.unlinked({ engine, environment: importing })
      const { phone, bob } = await missSome(world, { days: 7 })
      await pairAgain(world, phone)
      const { type, result } = await completedJob(world)
      assert.deepEqual([type, result?.['posted']], ['history_pairing', 3])
      assert.deepEqual(shownAt(world), [{ status: 'open', texts: ['before', ...missed] }])
      await world.arrived(bob.text(phone, 'and now?'))
      assert.deepEqual(shownAt(world), [{ status: 'open', texts: ['before', ...missed, 'and now?'] }])
    })

    test('goes into a History conversation when something live was posted since', async () => {
      await using world = await World.unlinked({ engine, environment: importing })
      const { phone, bob } = await missSome(world, { enabled: false })
      await pairAgain(world, phone)
      await world.arrived(bob.text(phone, 'and now?'))
      await world.drained()
      const { body } = await world.command('/a/history/import-all')
      assert.equal((body as Record<string, unknown>)['posted'], 3)
      assert.deepEqual(shownAt(world), [
        { status: 'open', texts: ['before', 'and now?'] },
        { status: 'resolved', texts: ['#', ...missed] },
      ])
    })
  })
}
