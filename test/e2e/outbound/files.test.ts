// Files that the helpdesk hands out late, elsewhere, slowly or never.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach, png, shownTo, textFile } from '../../harness/agent-files.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const young = (ms: number) => ({ quirks: { ...calm, fileDelayMs: [ms, ms] as const } })

const answerTo = (world: AgentWorld, id: number) =>
  world.helpdesk.waitForDelivery(
    'the answer',
    ({ event, body }) => event === 'message_created' && 'id' in body && body.id === id,
  )

/** How often a file was asked for, and answered like this. */
const fileRequests = (world: AgentWorld, status: number) =>
  world.helpdesk.requests.filter((visit) => visit.path.startsWith('/rails/active_storage/') && visit.status === status)

test('a file that is not there in the first moment is asked for again and arrives', async () => {
  await using world = await AgentWorld.open()
  await world.helpdesk.fault({ kind: 'status', status: 404, path: /^\/rails\/active_storage\//, times: 2 })
  const id = await attach(world, 'fresh', [{ name: 'p.png', bytes: png, type: 'image/png' }])
  assert.ok((await answerTo(world, id)).status < 300)
  await world.received('fresh')
  assert.equal(fileRequests(world, 404).length, 2, 'it was not there at first')
})

test('young, behind a redirect to object storage, named by a host that cannot be reached: it arrives', async () => {
  const helpdesk = { ...young(700), storage: 's3' as const, frontendUrl: 'http://desk.invalid' }
  await using world = await AgentWorld.open({ helpdesk, environment: { SERVICE_EGRESS_ALLOW: '127.0.0.1' } })
  await attach(world, 'all at once', [textFile('a.txt', 'first'), textFile('b.txt', 'second')])
  await waitUntil('both have arrived', () => world.bob.messages.length === 2)
  assert.deepEqual(shownTo(world.bob), ['a.txt: all at once', 'b.txt'])
  assert.deepEqual(
    world.bob.messages.entries.map((each) => world.bob.download(each).toString()),
    ['first', 'second'],
  )
  assert.deepEqual(
    world.helpdesk.refusals.filter(({ kind }) => kind === 'leaked_token'),
    [],
  )
})

test('a file that never comes fails after 20 s with the reason', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8), helpdesk: young(60_000) })
  const id = await attach(world, 'never', [textFile('never.txt')])
  const { status } = await world.shown(id, ({ contentAttributes: { external_error: error } }) =>
    /never\.txt could not be fetched .*no such file/.test(String(error)),
  )
  assert.equal(status, 'failed')
  assert.deepEqual(shownTo(world.bob), [])
  // The name is for the agent. The log tells which message, and how its parts ended.
  assert.deepEqual(
    world.service.logs.lines.filter((line) => line.includes('never.txt')),
    [],
  )
  const [line] = world.service.logs.withMessage('outgoing message')
  assert.deepEqual([line?.['outcome'], line?.['parts']], ['failed', ['refused']])
})
