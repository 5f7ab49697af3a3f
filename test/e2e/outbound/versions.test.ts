// What agents write, on several versions of Chatwoot.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import type { HelpdeskVersion } from '../../../sim/helpdesk/versions.ts'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { attach, kindsOf, png, shownTo, textFile } from '../../harness/agent-files.ts'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const refused = (world: AgentWorld, id: number) => world.shown(id, ({ status }) => status === 'failed')

async function failing(version: HelpdeskVersion): Promise<AgentWorld> {
  const world = await AgentWorld.open({ helpdesk: { version } })
  world.network.fault({ kind: 'ack_error', code: 404 })
  return world
}

onEveryVersion('texts, hard breaks, notes, quotes, pictures and documents arrive', async (version) => {
  await using world = await AgentWorld.open({ helpdesk: { version } })
  const first = await world.write('**Hello** Bob')
  await world.received('*Hello* Bob')
  await world.write('for colleagues only', { private: true })
  await world.write('one\\\ntwo')
  await world.received('one\ntwo')
  await world.write('as I said', { content_attributes: { in_reply_to: first } })
  const reply = await world.received('as I said')
  assert.ok(unwrap(reply.message).extendedTextMessage?.contextInfo?.stanzaId, 'the answer quotes the first message')
  await attach(world, 'see this', [{ name: 'p.png', bytes: png, type: 'image/png' }])
  await attach(world, 'and this', [textFile('report.txt')])
  await waitUntil('both files have arrived', () => world.bob.messages.length === 5)
  assert.deepEqual(kindsOf(world.bob.messages.entries).slice(-2), ['imageMessage', 'documentMessage'])
  assert.equal(shownTo(world.bob).at(-1), 'report.txt: and this')
  await world.helpdesk.settled()
  assert.deepEqual(new Set(world.helpdesk.messages(world.conversation).map(({ status }) => status)), new Set(['sent']))
  world.helpdesk.assertNothingRefused()
})

onEveryVersion('a message that the network refuses is shown as failed', async (version) => {
  await using world = await failing(version)
  const id = await world.write('refused')
  await refused(world, id)
  assert.deepEqual(world.texts(), [])
  if (version === '3.4') return
  await world.shown(id, ({ contentAttributes: { external_error: error } }) => !/^\d{3} /.test(String(error)))
})

onEveryVersion('Retry sends a failed message again', async (version) => {
  await using world = await failing(version)
  const id = await world.write('second try')
  await refused(world, id)
  const isReport = ({ method, path }: { method: string; path: string }) =>
    method === 'PATCH' && path.endsWith(`/messages/${id}`)
  await waitUntil('the reason is reported', () => world.helpdesk.requests.some(isReport))
  await world.helpdesk.settled()
  await world.outbox()
  await world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)
  await world.received('second try')
  await world.helpdesk.settled()
  assert.equal((await world.shown(id, () => true)).status, 'sent')
  assert.deepEqual(world.texts(), ['second try'])
})

onEveryVersion('an automation rule and a survey reach the customer', async (version) => {
  await using world = await AgentWorld.open({ helpdesk: { version } })
  await world.desk.patch('/inboxes/1', { csat_survey_enabled: true })
  world.helpdesk.world.addAutomation('We answer soon')
  await world.desk.post(`/conversations/${world.conversation}/messages`, {
    content: 'hi',
    message_type: 'incoming',
    source_id: 'W1',
  })
  await world.received('We answer soon')
  await world.agent.post(`/conversations/${world.conversation}/toggle_status`, { status: 'resolved' })
  await waitUntil('the survey has arrived', () => world.texts().length === 2)
  assert.match(world.texts()[1] ?? '', /^Please rate/)
})
