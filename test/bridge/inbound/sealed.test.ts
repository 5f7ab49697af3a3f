// Events that only the secret of another message opens: votes and sealed edits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeBed, envelope, message, person } from './harness/bridge-bed.ts'

const poll = { type: 'poll' as const, question: 'Lunch?', options: ['Pizza'] }

function voteIn(phone: string) {
  const target = { id: 'POLL', chat: `${phone}@s.whatsapp.net`, fromMe: false, participant: null }
  const rest = { kind: 'sealed' as const, purpose: 'poll_vote' as const, target, payload: '', iv: '' }
  return { ...envelope({ chat: person(phone) }), ...rest }
}

async function bedWithPoll(): Promise<BridgeBed> {
  const bed = await BridgeBed.open()
  bed.unseal = (_, { secret, pollOptions }) =>
    secret === 'c2VjcmV0' ? { type: 'poll_vote', options: pollOptions } : null
  await bed.receive(message(poll, { id: 'POLL', chat: person('551190001'), secret: 'c2VjcmV0' }))
  await bed.posted(1)
  return bed
}

test('a vote is opened with the secret of its poll, and shown to agents only', async () => {
  await using bed = await bedWithPoll()
  await bed.receive(voteIn('551190001'))
  await bed.posted(2)
  const [, vote] = bed.helpdesk.messages
  assert.deepEqual([vote?.content, vote?.private], ['🗳️ voted for: Pizza', true])
})

test('a vote is not opened with the secret of a message of another chat that has the id of the poll', async () => {
  await using bed = await bedWithPoll()
  await bed.receive(voteIn('551190002'))
  await bed.posted(2)
  assert.match(bed.helpdesk.contents[1] ?? '', /not known here and cannot be opened/)
})
