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
