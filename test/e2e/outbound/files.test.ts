// Files that the helpdesk hands out late, elsewhere, slowly or never.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach, png, shownTo, textFile } from '../../harness/agent-files.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const young = (ms: number) => ({ quirks: { ...calm, fileDelayMs: [ms, ms] as const } })

const answerTo = (stage: OutboundStage, id: number) =>
  stage.helpdesk.waitForDelivery(
    'the answer',
    ({ event, body }) => event === 'message_created' && 'id' in body && body.id === id,
    10_000,
  )

/** How often a file was asked for, and answered like this. */
const fileRequests = (stage: OutboundStage, status: number) =>
  stage.helpdesk.requests.filter((visit) => visit.path.startsWith('/rails/active_storage/') && visit.status === status)

test('a file that is not there in the first moment is asked for again and arrives', async () => {
  await using stage = await OutboundStage.open({ helpdesk: young(1200) })
  const id = await attach(stage, 'fresh', [{ name: 'p.png', bytes: png, type: 'image/png' }])
  assert.ok((await answerTo(stage, id)).status < 300)
  await stage.received('fresh')
  assert.ok(fileRequests(stage, 404).length > 0, 'it was not there at first')
})

test('young, behind a redirect to object storage, named by a host that cannot be reached: it arrives', async () => {
  const helpdesk = { ...young(700), storage: 's3' as const, frontendUrl: 'http://desk.invalid' }
  await using stage = await OutboundStage.open({ helpdesk, environment: { SERVICE_EGRESS_ALLOW: '127.0.0.1' } })
  await attach(stage, 'all at once', [textFile('a.txt', 'first'), textFile('b.txt', 'second')])
  await waitUntil('both have arrived', () => stage.bob.messages.length === 2)
  assert.deepEqual(shownTo(stage.bob), ['a.txt: all at once', 'b.txt'])
  assert.deepEqual(
    stage.bob.messages.entries.map((each) => stage.bob.download(each).toString()),
    ['first', 'second'],
  )
  assert.deepEqual(
    stage.helpdesk.refusals.filter(({ kind }) => kind === 'leaked_token'),
    [],
  )
})

test('a file that comes later than the answer may: queued, then it arrives', async () => {
  await using stage = await OutboundStage.open({ clock: new FastClock(4), helpdesk: young(2000) })
  const id = await attach(stage, 'late', [textFile('late.txt')])
  assert.equal((await answerTo(stage, id)).status, 202)
  await waitUntil('it arrives', () => stage.bob.messages.length === 1)
  await waitUntil('it is settled', async () => (await stage.outbox())['sent'] === 1)
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
})

test('a file that never comes fails after 20 s with the reason', async () => {
  await using stage = await OutboundStage.open({ clock: new FastClock(8), helpdesk: young(60_000) })
  const id = await attach(stage, 'never', [textFile('never.txt')])
  const { status } = await stage.shown(id, ({ contentAttributes: { external_error: error } }) =>
    /never\.txt could not be fetched .*no such file/.test(String(error)),
  )
  assert.equal(status, 'failed')
  assert.deepEqual(shownTo(stage.bob), [])
  // The name is for the agent. The log tells which message, and how its parts ended.
  assert.deepEqual(
    stage.service.logs.lines.filter((line) => line.includes('never.txt')),
    [],
  )
  const [line] = stage.service.logs.withMessage('outgoing message')
  assert.deepEqual([line?.['outcome'], line?.['parts']], ['failed', ['refused']])
})

test('a file that hangs is answered in time and holds up nobody else', async () => {
  await using stage = await OutboundStage.open()
  const eve = stage.network.person({ phone: '5511888880002', pushName: 'Eve' })
  await stage.helpdesk.fault({ kind: 'slow', ms: 6000, path: /^\/rails\/active_storage/, times: 1 })
  const started = performance.now()
  const id = await attach(stage, 'slow', [textFile('slow.txt')])
  await waitUntil('the file is asked for', () => stage.helpdesk.faults.length === 0)
  const conversation = { id: 60, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  assert.equal((await stage.post(stage.callback(9000, 'quick', { conversation }))).status, 200)
  assert.ok(performance.now() - started < 3000)
  assert.equal((await answerTo(stage, id)).status, 202)
  assert.ok(performance.now() - started < 4500)
  await waitUntil('it arrives', () => stage.bob.messages.length === 1)
})

test('the helpdesk away while a file is fetched: tried again, and sent', async () => {
  await using stage = await OutboundStage.open({ clock: new FastClock(4) })
  await stage.helpdesk.fault({ kind: 'status', status: 502, path: /^\/rails\/active_storage/, times: 2 })
  const id = await attach(stage, 'second try', [textFile('a.txt')])
  await waitUntil('it arrives', () => stage.bob.messages.length === 1)
  assert.deepEqual(shownTo(stage.bob), ['a.txt: second try'])
  await waitUntil('it is settled', async () => (await stage.outbox())['sent'] === 1)
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
})
