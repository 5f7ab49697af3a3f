// Where Chatwoot's database is not corrected, the text of an imported message begins with the time at which it was written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimeHeads } from '../../src/history/dates/time-heads.ts'
import { HelpdeskBed } from '../downstream/harness/helpdesk-bed.ts'
import { ManualClock } from '../harness/manual-clock.ts'

const at = Date.UTC(2026, 10, 3, 2, 5)
const inboxes = /\/inboxes\/1$/

async function setZone({ helpdesk }: HelpdeskBed, timezone: string): Promise<void> {
  const { url, api_token, account_id, inbox_id } = helpdesk.facts
  const answer = await fetch(`${url}/api/v1/accounts/${account_id}/inboxes/${inbox_id}`, {
    method: 'PATCH',
    headers: { 'Api-Access-Token': api_token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ timezone }),
  })
  assert.equal(answer.status, 200)
}

test('the head is in the time zone of the helpdesk inbox, which is asked once an hour', async () => {
  await using bed = await HelpdeskBed.start()
  const clock = new ManualClock()
  const { downstream, destination } = bed
  const heads = new TimeHeads({ database: null, downstream, clock })
  await setZone(bed, 'America/Sao_Paulo')
  const both = await Promise.all([heads.headOf(destination, at, 'en'), heads.headOf(destination, at, 'en')])
  assert.deepEqual(both, ['`2 Nov 2026, 23:05`', '`2 Nov 2026, 23:05`'])
  await setZone(bed, 'Europe/Lisbon')
  assert.equal(await heads.headOf(destination, at, 'en'), '`2 Nov 2026, 23:05`')
  assert.equal(bed.asked('GET', inboxes), 1)
  await clock.advance(3_600_000)
  assert.equal(await heads.headOf(destination, at, 'en'), '`3 Nov 2026, 02:05`')
})

test('a helpdesk inbox without a time zone of its own has UTC, and the head says so', async () => {
  await using bed = await HelpdeskBed.start()
  const { downstream, destination } = bed
  const heads = new TimeHeads({ database: null, downstream, clock: new ManualClock() })
  assert.equal(await heads.headOf(destination, at, 'es'), '`3 nov 2026, 02:05 UTC`')
  // Two instances of one helpdesk inbox can have different languages.
  assert.equal(await heads.headOf(destination, at, 'en'), '`3 Nov 2026, 02:05 UTC`')
})

test('a helpdesk that does not answer is asked again by the next message', async () => {
  await using bed = await HelpdeskBed.start()
  const { downstream, destination } = bed
  const heads = new TimeHeads({ database: null, downstream, clock: new ManualClock() })
  await bed.helpdesk.fault({ kind: 'status', status: 500, path: inboxes, times: 1 })
  await assert.rejects(heads.headOf(destination, at, 'en'), { name: 'DownstreamError' })
  assert.equal(await heads.headOf(destination, at, 'en'), '`3 Nov 2026, 02:05 UTC`')
})

test('where the date is corrected, the text has no head', async () => {
  await using bed = await HelpdeskBed.start()
  const { downstream, destination } = bed
  const database = { serves: ({ baseUrl }: { baseUrl: string }) => baseUrl === destination.baseUrl }
  const heads = new TimeHeads({ database, downstream, clock: new ManualClock() })
  assert.equal(await heads.headOf(destination, at, 'en'), null)
  const other = { ...destination, key: 'other', baseUrl: `${destination.baseUrl}/` }
  assert.equal(await heads.headOf(other, at, 'en'), '`3 Nov 2026, 02:05 UTC`')
  assert.equal(bed.asked('GET', inboxes), 1)
})
