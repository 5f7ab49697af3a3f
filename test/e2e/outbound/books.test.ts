// After all kinds of messages the books agree: answers, outbox, helpdesk, audit, usage, metrics and events.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attach, shownTo, textFile } from '../../harness/agent-files.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'

for (const engine of engines) {
  test(`sent, refused, blocked, repeated and private, on ${engine}`, async () => {
    await using stage = await OutboundStage.open({ engine })
    await stage.service.request('PATCH', '/api/instances/n0', { body: { spamguard_enabled: true } })
    const written = [await stage.write('a first long message')]
    await stage.received('a first long message')
    written.push(await attach(stage, 'two files', [textFile('a.txt'), textFile('b.txt')]))
    await waitUntil('the files have arrived', () => stage.bob.messages.length === 3)
    stage.network.fault({ kind: 'ack_error', code: 479 })
    const refused = await stage.write('refused by the network')
    await stage.shown(refused, ({ status }) => status === 'failed')
    const original = await stage.write('say it once, please')
    await stage.received('say it once, please')
    const blocked = await stage.write('Say it  once, please')
    await stage.shown(blocked, ({ contentAttributes: { external_error: error } }) => /30 seconds/.test(String(error)))
    await stage.write('only for us', { private: true })
    await stage.post(stage.callback(original, 'say it once, please'))
    await waitUntil('all are settled', async () => (await stage.outbox())['sent'] === 3)
    await stage.helpdesk.settled()

    assert.deepEqual(shownTo(stage.bob), ['a first long message', 'a.txt: two files', 'b.txt', 'say it once, please'])
    const { sent, failed, expired, pending } = await stage.outbox()
    assert.deepEqual({ sent, failed, expired, pending }, { sent: 3, failed: 1, expired: 0, pending: 0 })
    const labels = 'instance="n0",owner_tag=""'
    assert.equal(await stage.metric(`service_messages_total{direction="out",${labels}}`), 4)
    assert.equal(await stage.metric(`service_spamguard_blocks_total{${labels}}`), 1)
    const errors = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="text",owner_tag=""}'
    assert.equal(await stage.metric(errors), 1)
    const { rows } = (await stage.service.get('/api/instances/n0/usage')).body as { rows: Record<string, number>[] }
    assert.deepEqual([rows[0]?.['messages_out'], rows[0]?.['spamguard_blocks']], [4, 1])
    const { entries } = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
    const actions = entries.map(({ action }) => action).filter((action) => action.startsWith('outbox.'))
    assert.deepEqual(actions, ['outbox.failed'])
    const event = (name: string) => `service_lifecycle_events_total{instance="n0",event="${name}",owner_tag=""}`
    assert.deepEqual([await stage.metric(event('spam_blocked')), await stage.metric(event('outgoing_expired'))], [1, 0])
    const risk = (await stage.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
    assert.deepEqual([risk['delivery_samples'], risk['delivery_ratio']], [5, 0.8])
    const statuses = [...written, original, refused, blocked].map(
      (id) => stage.helpdesk.messages().find((message) => message.id === id)?.status,
    )
    assert.deepEqual(statuses, ['sent', 'sent', 'sent', 'failed', 'failed'])
  })
}

test('a number that could not be checked is not taken for one that is nowhere', async () => {
  await using stage = await OutboundStage.open({ clock: new FastClock(4) })
  const joao = stage.network.person({ phone: '553188887777', pushName: 'João' })
  const conversation = { id: 50, inbox_id: 1, meta: { sender: { phone_number: '+5531988887777' } } }
  stage.network.fault({ kind: 'query_error', query: 'usync get usync', code: 500 })
  const first = await stage.post(stage.callback(1, 'olá', { conversation }))
  assert.equal(first.status, 202)
  await stage.received('olá', joao)
  const eve = stage.network.person({ phone: '5511888880002' })
  stage.network.fault({ kind: 'query_silence', query: 'usync get usync' })
  const to = { id: 51, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  const started = performance.now()
  assert.equal((await stage.post(stage.callback(2, 'hello', { conversation: to }))).status, 202)
  assert.ok(performance.now() - started < 4000)
  await stage.received('hello', eve, 30_000)
  await waitUntil('both are settled', async () => (await stage.outbox())['sent'] === 2)
})
