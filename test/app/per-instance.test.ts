// Every part that keeps memory per instance is in the list of the composition, and drops that memory when the instance leaves.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { InboxWorker } from '../../src/bridge/inbound/inbox-worker.ts'
import { OutboxWorker } from '../../src/bridge/outbound/queue/outbox-worker.ts'
import type { PerInstance } from '../../src/core/per-instance.ts'
import { BoundedMap } from '../../src/lib/bounded-map.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { IdClock } from '../../src/storage/stores/newest-ids.ts'
import { assertRefused } from '../harness/assertions.ts'
import { rounds } from '../harness/rounds.ts'
import { Service } from '../harness/service.ts'
import { chatwootSignatureOf } from '../harness/signed-callback.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { InstanceMemory } from './harness/instance-memory.ts'

const name = 'wanderer-7c1d'
const path = `/api/instances/${name}`
/** The registry itself keeps the account until it is removed. */
const registry = 'src/instances/instance-registry.ts'

const moves = rounds({ gate: 100, long: 1000 })
const root = join(import.meta.dirname, '../..')

/** The classes that are not in the list, with the reason. */
const unlistedParts = new Map([
  ['AccountEvents', 'passes the calls on to the list'],
  ['RememberedHeaders', 'takes the place of StoredHeaderHistory with SERVICE_RETROACTIVE_PERSIST=false'],
  ['ParkedRows', 'the InboxWorker takes and leaves the parked rows itself'],
])

/** What the steps of openUsed() leave traces in. */
const usedParts = [
  'src/bridge/conversations/conversation-memory.ts',
  'src/bridge/conversations/offered-choices.ts',
  'src/bridge/inbound/compose/group-headers.ts',
  'src/bridge/inbound/files/file-fetcher.ts',
  'src/bridge/inbound/inbox-worker.ts',
  'src/bridge/outbound/agent-activity.ts',
  'src/bridge/outbound/queue/outbox-worker.ts',
  'src/bridge/people/group-directory.ts',
  'src/bridge/people/number-lookup.ts',
  'src/bridge/people/people.ts',
  'src/bridge/sync/contact-typing.ts',
  'src/bridge/sync/typing-subscriptions.ts',
  'src/bridge/sync/labels/label-intake.ts',
  'src/bridge/sync/labels/label-limit.ts',
  'src/bridge/sync/names/header-history.ts',
  'src/bridge/sync/avatars/avatars.ts',
  'src/bridge/sync/ticks/tick-counts.ts',
  'src/bridge/sync/ticks/waiting-receipts.ts',
  'src/guard/ban-risk.ts',
  'src/guard/pace.ts',
  'src/guard/restrictions.ts',
  'src/jobs/jobs.ts',
  'src/history/kept/kept-history.ts',
  'src/http/webhook/callback-refusals.ts',
  'src/http/webhook/clock-differences.ts',
  'src/ledger/usage.ts',
  'src/lifecycle/courier.ts',
  'src/lifecycle/exhausted-deliveries.ts',
  'src/live/last-messages.ts',
  'src/live/state-history.ts',
  'src/setup/checks/setup-watch.ts',
]

type Used = { service: Service; helpdesk: SimHelpdesk; phone: SimPhone; bob: SimPerson; conversation: number }

/** A service whose instance has received texts, a group message and a file, has sent messages, and is restricted. */
async function openUsed(stack: AsyncDisposableStack): Promise<Used> {
  const network = stack.use(await SimNetwork.start({ isBusiness: true }))
  const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm }))
  const folder = await mkdtemp(join(tmpdir(), 'causeway-ca-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'ca.pem'), network.authority.pem)
  const { facts } = helpdesk
  const service = stack.use(
    await Service.start({
      network,
      environment: {
        SERVICE_NETWORK_CA: join(folder, 'ca.pem'),
        DOWNSTREAM_BASE_URL: facts.url,
        DOWNSTREAM_API_TOKEN: facts.api_token,
        DOWNSTREAM_ACCOUNT_ID: String(facts.account_id),
        DOWNSTREAM_INBOX_ID: String(facts.inbox_id),
        WEBHOOK_HMAC_SECRET: facts.webhook_secret,
        SERVICE_OUTGOING_RATE_LIMIT: '1000',
        SERVICE_HELPDESK_NOTICES: 'true',
        SERVICE_GROUP_HEADER_TTL: '1h',
        SERVICE_LABELS_SYNC: 'true',
      },
    }),
  )
  const phone = network.account({ phone: '5511999990001' })
  // Nothing listens there, so deliveries of events wait for their next attempt.
  const events = [{ url: 'http://127.0.0.1:9/', events: [] }]
  await service.request('POST', '/api/instances', { body: { name, events_webhook_subscribers: events } })
  let code = ''
  await waitUntil('a QR code is shown', async () => {
    const answer = await service.get(`${path}/qr?format=text`)
    code = answer.status === 200 ? answer.text : ''
    return code !== ''
  })
  await phone.scan(code)
  await waitUntil('the instance is ready', async () => {
    return ((await service.get(path)).body as { state: string }).state === 'ready'
  })
  const bob = network.person({ phone: '5511888880001', pushName: 'Bob' })
  const sent = [
    bob.text(phone, 'one'),
    bob.text(network.group('Team', bob, [phone]), 'to all'),
    bob.media(phone, 'image', { bytes: Buffer.from('x') }),
  ]
  const conversations: number[] = []
  for (const { id } of sent) {
    const { conversationId } = await helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id)
    conversations.push(conversationId)
  }
  const channel = { webhook_url: `${service.app.url}${path}/webhook` }
  await new DeskClient(helpdesk).patch('/inboxes/1', { channel })
  const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
  // The service caches the context of a chat only when Bob has no unread message, so it takes several answers.
  for (const content of ['hello', 'again', 'and again']) {
    await agent.post(`/conversations/${conversations[0]}/messages`, { content, message_type: 'outgoing' })
    await bob.messages.waitFor(`"${content}"`, ({ message }) => textOfMessage(message) === content)
  }
  phone.user.restrictedUntil = Date.now() + 3_600_000
  network.fault({ kind: 'ack_error', code: 463, times: 2 })
  await agent.post(`/conversations/${conversations[0]}/messages`, { content: 'refused', message_type: 'outgoing' })
  await waitUntil('the network has refused a message', async () => {
    return ((await service.get(`${path}/outbox`)).body as { failed: number }).failed === 1
  })
  await helpdesk.waitForMessage(
    undefined,
    ({ content }) => content?.includes('has restricted this account') === true,
    60_000,
  )
  await service.app.workers.get('setup-watch')?.tick()
  for (let n = 1; n <= 20; n++) phone.labels.create(`label ${n}`)
  await agent.post(`/conversations/${conversations[0]}/labels`, { labels: ['one-more'] })
  const limit = `service_realtime_events_total{feature="labels",result="limit",instance="${name}"}`
  await waitUntil('there is a label too many', async () => (await service.get('/metrics')).text.includes(limit))
  assert.equal((await service.get(`${path}/numbers/5511888880001`)).status, 200)
  return { service, helpdesk, phone, bob, conversation: conversations[0] ?? 0 }
}

/** Bob types: that is forgotten after a silence of 25 s. */
async function leaveTyping({ helpdesk, phone, bob, conversation }: Used): Promise<void> {
  bob.typing(phone)
  await helpdesk.waitForConversation(({ id, contactTypingSince }) => id === conversation && contactTypingSince !== null)
}

/** One receipt waits a minute for its message, and the status of another message cannot be set. */
async function leaveReceipts({ service, helpdesk, bob }: Used): Promise<void> {
  const hello = bob.messages.entries.find(({ message }) => textOfMessage(message) === 'hello')
  assert.ok(hello)
  await helpdesk.fault({ kind: 'status', status: 500, method: 'PATCH', path: /\/messages\/\d+$/ })
  bob.receipt('read', [hello, { ...hello, id: 'UNKNOWN' }])
  const failed = `service_realtime_events_total{feature="read_receipt",result="ds_error",instance="${name}"} 1`
  await waitUntil('the status cannot be set', async () => (await service.get('/metrics')).text.includes(failed))
  await helpdesk.clearFaults()
}

/** Resolves when what was caused by the last message is done: nothing new is kept for a while. */
async function settled(memory: InstanceMemory, used: Used): Promise<void> {
  const { service, helpdesk } = used
  await waitUntil('all messages are sent', async () => {
    return ((await service.get(`${path}/outbox`)).body as { sent: number }).sent === 3
  })
  // This event comes some seconds after the start, and is counted and delivered like the others.
  await waitUntil('the start is announced', async () => {
    return (await service.get('/metrics')).text.includes(`{instance="${name}",event="backend_started"`)
  })
  // The deletion of an instance does not wait for the helpdesk: a notice under way ends later.
  await waitUntil('no notice is under way', async () => {
    return !(await memory.files()).includes('src/lifecycle/helpdesk-notices.ts')
  })
  let before: string[] = []
  await waitUntil('no file keeps more than before', async () => {
    const known = before
    before = await memory.files()
    return before.join() === known.join()
  })
  // What is forgotten by itself soon comes last: a busy machine needs long for the looks before.
  await leaveReceipts(used)
  await leaveTyping(used)
  await callFromAnotherClock(service, helpdesk)
  await callWithAnotherSecret(service)
}

/**
 * A callback of a helpdesk whose clock is an hour ahead. The next callback with the right time ends what is kept of it, so the
 * helpdesk sends none from now on: the status of a message is still to be set, which would cause one.
 */
async function callFromAnotherClock(service: Service, helpdesk: SimHelpdesk): Promise<void> {
  await new DeskClient(helpdesk).patch('/inboxes/1', { channel: { webhook_url: '' } })
  await helpdesk.settled()
  const headers = chatwootSignatureOf('{}', helpdesk.facts.webhook_secret, Date.now() + 3_600_000)
  const refused = await service.request('POST', `${path}/webhook`, { token: null, body: '{}', headers })
  assertRefused(refused, 'SERVICE_CLOCK_DIFFERS')
}

/** A callback with the signature of another secret. The next callback that is accepted ends what is kept of it. */
async function callWithAnotherSecret(service: Service): Promise<void> {
  const headers = chatwootSignatureOf('{}', 'another secret', Date.now())
  const refused = await service.request('POST', `${path}/webhook`, { token: null, body: '{}', headers })
  assertRefused(refused, 'SERVICE_UNAUTHORIZED')
}

test('after every part has left an instance that was in use, only the registry knows it', async () => {
  await using stack = new AsyncDisposableStack()
  using memory = new InstanceMemory(name)
  const used = await openUsed(stack)
  const { service } = used
  await settled(memory, used)
  const files = await memory.files()
  assert.deepEqual(
    usedParts.filter((file) => !files.includes(file)),
    [],
    'the test uses less than it should',
  )
  // As the registry does: an account that is still connected could fill the memory of a part that has left.
  await service.app.instances.get(name).close()
  const [ids, inbox, ...others] = service.app.perInstance
  assert.ok(ids instanceof IdClock, 'ids of rows are right before a part creates one')
  assert.ok(inbox instanceof InboxWorker && others[0] instanceof OutboxWorker, 'the workers leave first')
  for (const part of others) await part.leave(name)
  // The worker itself takes and leaves the parked rows.
  const missing = ['src/bridge/inbound/inbox-worker.ts', 'src/bridge/inbound/parked-rows.ts', registry]
  assert.deepEqual(await memory.files(), missing, 'a missing part is noticed')
  await inbox.leave(name)
  assert.deepEqual(await memory.files(), [registry])
  for (let move = 0; move < moves; move++) {
    for (const part of service.app.perInstance) await part.take?.(name)
    for (const part of service.app.perInstance) await part.leave(name)
  }
  assert.deepEqual(await memory.files(), [registry], `after ${moves} moves away and back`)
})

test('a deleted instance is known nowhere, except for the events that its subscribers have not heard yet', async () => {
  await using stack = new AsyncDisposableStack()
  using memory = new InstanceMemory(name)
  const used = await openUsed(stack)
  const { service } = used
  // The helpdesk sends no callback afterwards. That of the notice about the deletion would be refused, and health would name the
  // instance.
  await settled(memory, used)
  assert.equal((await service.request('DELETE', path)).status, 200)
  // The notice about the deletion may be under way.
  let files: string[] = []
  await waitUntil(
    'only the courier knows the instance',
    async () => {
      files = await memory.files()
      return files.join() === 'src/lifecycle/courier.ts'
    },
    { instead: () => files },
  )
})

test('every class that keeps memory per instance is in the list of the composition', async () => {
  const declared: string[] = []
  for (const file of await Array.fromAsync(glob(join(root, 'src/**/*.ts'), { exclude: ['**/*.test.ts'] }))) {
    const source = await readFile(file, 'utf8')
    const [, className] = /^export class (\w+) implements .*\bPerInstance\b/m.exec(source) ?? []
    if (className !== undefined) declared.push(className)
    const leaves = /^ {2}(?:async )?leave\(instance: InstanceName\): [\w<>]+ \{$/m.test(source)
    assert.ok(
      className !== undefined || !leaves,
      `the class in ${file} does not declare that it implements PerInstance`,
    )
  }
  await using service = await Service.start({
    environment: { SERVICE_HELPDESK_NOTICES: 'true', SERVICE_LABELS_SYNC: 'true' },
  })
  const listed = service.app.perInstance.map((part) => part.constructor.name)
  assert.deepEqual([...listed, ...unlistedParts.keys()].sort(), declared.sort())
})

test('a part that is missing in the list is noticed, in each kind of memory that it keeps', async () => {
  class Forgotten implements PerInstance {
    readonly byName = new Map<string, number>()
    readonly names = new Set<string>()
    readonly rows = new Map<number, { instance: string }>()
    readonly bounded = new BoundedMap<string>({ clock: systemClock, max: 9, ttlMs: 60_000 })

    leave(instance: string): void {
      this.byName.delete(instance)
      this.names.clear()
      this.rows.clear()
      this.bounded.deleteWhere((key) => key.startsWith(instance))
    }
  }
  const uses: ((part: Forgotten) => void)[] = [
    (part) => part.byName.set(name, 1),
    (part) => part.names.add(`${name}|chat`),
    (part) => part.rows.set(7, { instance: name }),
    (part) => {
      part.bounded.set(`${name}|chat`, 'value')
    },
  ]
  for (const use of uses) {
    using memory = new InstanceMemory(name)
    const part = new Forgotten()
    use(part)
    const listed: PerInstance[] = []
    for (const each of listed) await each.leave(name)
    assert.deepEqual(await memory.files(), ['test/app/per-instance.test.ts'])
    listed.push(part)
    for (const each of listed) await each.leave(name)
    assert.deepEqual(await memory.files(), [])
  }
})
