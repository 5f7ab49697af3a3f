// What agents write to the contact under which the service speaks is for the service alone.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { destination } from '../../harness/inbound-stage.ts'
import { LifecycleStage } from '../../harness/lifecycle-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'

class OperationsStage {
  readonly helpdesk: SimHelpdesk
  readonly stage: LifecycleStage
  readonly desk: DeskClient
  readonly agent: DeskClient

  private constructor(helpdesk: SimHelpdesk, stage: LifecycleStage) {
    this.helpdesk = helpdesk
    this.stage = stage
    this.desk = new DeskClient(helpdesk)
    this.agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
  }

  static async open(): Promise<OperationsStage> {
    const helpdesk = await SimHelpdesk.start({ quirks: calm })
    const secret = helpdesk.facts.webhook_secret
    const notices = { SERVICE_HELPDESK_NOTICES: 'true', WEBHOOK_HMAC_SECRET: secret }
    const environment = { ...destination(helpdesk), ...notices }
    const stage = await LifecycleStage.open({ environment, qrLifetimeMs: 60_000 })
    const opened = new OperationsStage(helpdesk, stage)
    const channel = { webhook_url: `${stage.linked.service.app.url}/api/instances/a/webhook` }
    assert.equal((await opened.desk.patch('/inboxes/1', { channel })).status, 200)
    return opened
  }

  get pictures() {
    return this.helpdesk.messages().filter(({ files }) => files.length > 0)
  }

  /** An agent writes, and the helpdesk has told the service; what the service answers to exactly that callback. */
  async write(conversation: number, content: string): Promise<unknown> {
    const { body } = await this.agent.post(`/conversations/${conversation}/messages`, { content })
    const delivery = await this.helpdesk.waitForDelivery(content, (one) => {
      return one.event === 'message_created' && (one.body as unknown as { id: number }).id === body.id
    })
    assert.equal(delivery.status, 200, String(delivery.error))
    return this.answerTo(delivery.body)
  }

  async answerTo(callback: object): Promise<unknown> {
    const body = JSON.stringify(callback)
    const signature = createHmac('sha256', this.helpdesk.facts.webhook_secret).update(body).digest('hex')
    const headers = { 'x-service-signature': `sha256=${signature}` }
    const { service } = this.stage.linked
    return (await service.request('POST', '/api/instances/a/webhook', { token: null, body, headers })).body
  }

  /** Everything that counts messages, and what they have done to the queue. */
  async counters(): Promise<unknown> {
    const { service } = this.stage.linked
    const { text } = await service.get('/metrics')
    const counted = text.split('\n').filter((line) => /^service_(messages?_|outbox|spamguard)/.test(line))
    const { rows } = (await service.get('/api/instances/a/usage')).body as { rows: Record<string, unknown>[] }
    // A code that is shown is an event, whoever asked for it.
    const usage = rows.map((row) => ({ ...row, lifecycle_events: 0 }))
    return { counted, usage, outbox: (await service.get('/api/instances/a/outbox')).body }
  }

  async conversationOf(sentence: RegExp): Promise<number> {
    const matches = ({ content }: { content: string | null }) => sentence.test(content ?? '')
    return (await this.helpdesk.waitForMessage(undefined, matches, 20_000)).conversationId
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]()
    await this.helpdesk[Symbol.asyncDispose]()
  }
}

const forUs = { status: 'ignored', reason: 'operations' }

test('qr asks for a new code; the answer says who was meant, and nothing counts it', async () => {
  await using operations = await OperationsStage.open()
  const { linked } = operations.stage
  const phone = await linked.pair('a')
  const conversation = await operations.conversationOf(/^Connected as/)
  await waitUntil('no code is left', () => operations.pictures.length === 0)
  phone.unlink()
  await operations.conversationOf(/^The link to the phone has ended/)
  const before = await operations.counters()
  assert.deepEqual(await operations.write(conversation, 'hello?'), forUs)
  assert.equal(operations.pictures.length, 0)
  assert.equal((await linked.detail('a')).state, 'logged_out')

  assert.deepEqual(await operations.write(conversation, ' QR '), forUs)
  await linked.reaches('a', 'qr_pending')
  await waitUntil('a code is shown', () => operations.pictures.length > 0)
  const [shown] = operations.pictures
  assert.deepEqual([shown?.conversationId, shown?.messageType], [conversation, 'incoming'])
  assert.deepEqual(await operations.counters(), before)
  await phone.scan(await linked.qrText('a'))
  await linked.reaches('a', 'ready')
})

test('nothing reaches the network, also when the contact was given a phone number', async () => {
  await using operations = await OperationsStage.open()
  const { helpdesk, desk, agent, stage } = operations
  const bob = stage.linked.network.person({ phone: '5511888880001', pushName: 'Bob' })
  await stage.linked.pair('a')
  const conversation = await operations.conversationOf(/^Connected as/)
  const { body } = await desk.get(`/conversations/${conversation}`)
  const { sender } = body['meta'] as { sender: { id: number } }
  const changed = await desk.send('PUT', `/contacts/${sender.id}`, { phone_number: `+${bob.user.phone}` })
  assert.equal(changed.status, 200, changed.text)
  const before = await operations.counters()
  for (const text of ['hello Bob', 'qr']) assert.deepEqual(await operations.write(conversation, text), forUs)
  await operations.conversationOf(/^A code is given only/)
  assert.deepEqual(await operations.counters(), before)
  assert.equal((await stage.linked.detail('a')).state, 'ready')
  // What comes next would come after anything that was sent.
  await desk.send('PUT', `/contacts/${sender.id}`, { phone_number: null })
  const chat = await openChat(desk, bob.user.phone)
  await agent.post(`/conversations/${chat}/messages`, { content: 'for Bob' })
  await bob.messages.waitFor('the message', ({ message }) => textOfMessage(message) === 'for Bob', 20_000)
  assert.equal(bob.messages.length, 1)
  await helpdesk.settled()
})
