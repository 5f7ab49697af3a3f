// Messages with choices, cards, fields, articles and surveys reach the customer as texts, and answers come back as choices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { recordingOf } from '../../sim-helpdesk/harness/recordings.ts'

const sizes = ['Small', 'Medium', 'Large'].map((title) => ({ title, value: title.toLowerCase() }))

/** Resolves when the message has arrived and the service knows it. */
async function offer(world: AgentWorld, { conversation = world.conversation, to = world.bob } = {}): Promise<void> {
  const { sent } = await world.outbox()
  const extra = { content_type: 'input_select', content_attributes: { items: sizes } }
  await world.write('Which size?', extra, conversation)
  await world.received('Which size?\n\n1. Small\n2. Medium\n3. Large', to)
  await waitUntil('the offer is noted', async () => (await world.outbox())['sent'] === Number(sent) + 1)
}

async function surveyLink({ desk, helpdesk, conversation }: AgentWorld): Promise<string> {
  const { body } = await desk.get(`/conversations/${conversation}`)
  return `${helpdesk.url}/survey/responses/${String((body as Record<string, unknown>)['uuid'])}`
}

onEveryVersion('every interactive message reaches the customer with all that it offers', async (version) => {
  await using world = await AgentWorld.open({ helpdesk: { version } })
  const link = await surveyLink(world)
  const card = '*Card 1*\ndesc\nhttps://img.example/x.jpg\nView: https://x.example\n1. Buy'
  const expected = new Map([
    ['post input_select', 'Please (input_select)\n\n1. Yes\n2. No'],
    ['post cards', `Please (cards)\n\n${card}`],
    ['post form', 'Please (form)\n\nE-mail (Mail)\nPick:\n1. A'],
    ['post article', 'Please (article)\n\n*Doc*\nd\nhttps://docs.example/1'],
    ['post input_csat', `Please (input_csat)\n${link}`],
    ['post input_email', 'Please (input_email)\n\nPlease reply with your e-mail address.'],
    ['cards, no content', card],
  ])
  for (const [what, text] of expected) {
    const { request } = recordingOf('interactive', what) as unknown as { request: { body: object } }
    const path = `/conversations/${world.conversation}/messages`
    const { status, text: refusal } = await world.agent.post(path, request.body)
    assert.equal(status, 200, refusal)
    await world.received(text)
  }
  assert.deepEqual(world.texts(), [...expected.values()])
})

onEveryVersion('a survey after a resolve has its text and its link', async (version) => {
  await using world = await AgentWorld.open({ helpdesk: { version } })
  const path = `/conversations/${world.conversation}`
  const link = await surveyLink(world)
  await world.desk.patch('/inboxes/1', { csat_survey_enabled: true })
  await world.agent.post(`${path}/toggle_status`, { status: 'resolved' })
  await world.received(`Please rate the conversation\n${link}`)
})

for (const engine of drawnEngines(import.meta.url)) {
  test(`answers by number and by title are posted as choices until our next message, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    await offer(world)
    const shown = async (text: string) => {
      const { content, contentAttributes } = await world.arrived(world.bob.text(world.phone, text))
      return [content, contentAttributes['original_text']]
    }
    assert.deepEqual(await shown('2'), ['Medium', '2'])
    assert.deepEqual(await shown('large'), ['Large', 'large'])
    assert.deepEqual(await shown('2 of them'), ['2 of them', undefined])
    await world.restart()
    assert.deepEqual(await shown('1.'), ['Small', '1.'])
    await world.arrived(world.phone.text(world.bob, 'I call you'))
    assert.deepEqual(await shown('2'), ['2', undefined])
    await offer(world)
    assert.deepEqual(await shown('3)'), ['Large', '3)'])
    await world.write('Thank you')
    await world.received('Thank you')
    await waitUntil('all is sent', async () => (await world.outbox())['sent'] === 3)
    assert.deepEqual(await shown('3'), ['3', undefined])
  })

  test(`members of a group answer an offer, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
    const group = world.network.group('Team', world.bob, [world.phone, eve])
    const { conversationId } = await world.arrived(world.bob.text(group, 'hello all'))
    await offer(world, { conversation: conversationId, to: eve })
    const [byBob, byEve] = await Promise.all([
      world.arrived(world.bob.text(group, '2')),
      world.arrived(eve.text(group, 'SMALL')),
    ])
    assert.equal(byBob.content, '`+5511888880001 · ~Bob`\n\nMedium')
    assert.equal(byEve.content, '`+5511888880002 · ~Eve`\n\nSmall')
    assert.deepEqual(
      [byBob, byEve].map(({ contentAttributes }) => contentAttributes['original_text']),
      ['2', 'SMALL'],
    )
    const own = await world.arrived(world.bob.text(world.phone, '2'))
    assert.equal(own.content, '2')
  })
}
