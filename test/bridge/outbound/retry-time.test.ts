// How long a Retry counts while the helpdesk cannot be asked what it shows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { reported, rowOf } from './harness/views.ts'

const countsMs = 300_000

/** The agent presses Retry, and the service is away until that many milliseconds later. Its first look comes then. */
async function lookAfter(bed: OutboundBed, ms: number): Promise<number> {
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write('second try')
  await reported(bed, id)
  bed.helpdesk.script = () => {
    throw new DownstreamError('transient', 'HTTP 500')
  }
  await bed.desk.retry(id)
  const inVain = () => bed.logs.withMessage('the helpdesk could not be asked about a message').length
  await waitUntil('the helpdesk was asked in vain', () => inVain() > 0)
  const { expires_at: until } = await rowOf(bed, id)
  assert.equal(until, bed.clock.now() + countsMs)
  bed.helpdesk.script = () => undefined
  await bed.stop()
  await bed.clock.advance(ms)
  await bed.start()
  await bed.process.worker('outbox-shown').tick()
  return id
}

test('a Retry counts in the last millisecond of its 5 minutes', async () => {
  await using bed = await OutboundBed.open()
  await lookAfter(bed, countsMs)
  await waitUntil('it is sent', () => bed.texts().length > 0, { instead: () => bed.desk.marks })
  assert.deepEqual(bed.texts(), ['second try'])
})

test('a Retry does not count after its 5 minutes: the helpdesk shows the failure again', async () => {
  await using bed = await OutboundBed.open()
  const id = await lookAfter(bed, countsMs + 1)
  await waitUntil('it is shown as failed', () => bed.desk.message(id).status === 'failed')
  assert.deepEqual(bed.texts(), [])
})
