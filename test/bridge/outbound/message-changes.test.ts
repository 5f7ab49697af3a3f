import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageDeletions } from '../../../src/bridge/outbound/accept/message-deletions.ts'
import { MessageChanges } from '../../../src/bridge/outbound/accept/message-changes.ts'
import type { ChangeCommand } from '../../../src/bridge/outbound/accept/commands.ts'
import type { NewOutboxRow } from '../../../src/storage/stores/messages/outbox-rows.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { MessageMapStore } from '../../../src/storage/stores/messages/message-map-store.ts'
import { OutboxTransitions } from '../../../src/storage/stores/messages/outbox-transitions.ts'
import { RetryStore } from '../../../src/storage/stores/messages/retry-store.ts'
import { OutboxStore } from '../../../src/storage/stores/messages/outbox-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'

const key = 'https://desk|1|1'
const destination = { key, baseUrl: 'https://desk', apiToken: '', accountId: 1, inboxId: 1 }
const sender = {
  name: 'shop',
  ownerTag: '',
  inboxId: 0,
  isSpamguardEnabled: false,
  state: 'ready',
  createdAt: 1,
} as const

const waiting: NewOutboxRow = {
  ...{ id: 'a', kind: 'message', instance: 'shop', ownerTag: '', inboxId: 0, destination: key, chatId: 'p1' },
  ...{
    remoteJid: '5511999990001@s.whatsapp.net',
    conversationId: 7,
    messageId: 70,
    isWaiting: false,
    isDrained: false,
  },
  ...{ expiresAt: null, fingerprint: null, createdAt: 1000 },
  payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
}

const deletion: ChangeCommand = {
  ...{
    kind: 'changed',
    messageId: 70,
    deleted: true,
    externalError: null,
    isTranslated: false,
    writtenAt: null,
    content: 'gone',
  },
  ...{ attachments: [], lacksFile: false, inReplyTo: null, agentName: null, isByPerson: true },
  conversation: { accountId: 1, inboxId: 1, conversationId: 7 },
  recipient: { identifier: null, phone: null, sourceId: null },
}

test('a deletion that meets a message just leaving takes it back', async () => {
  await using stack = new AsyncDisposableStack()
  const { database } = stack.use(await newDatabase('sqlite'))
  const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
  const outbox = new OutboxStore(
    database,
    (instance) => holdOf(instance, epoch),
    () => nodeHold(epoch),
  )
  const transitions = new OutboxTransitions(database, (instance) => holdOf(instance, epoch))
  const clock = new ManualClock()
  const submitted: string[] = []
  const deletions = new MessageDeletions({
    outbox,
    transitions: {
      // The worker is quicker by a moment.
      cancel: async (row, ...rest) => {
        await transitions.claim('shop', row.id, 2000, [{ id: 'W1', of: 'text', state: 'unknown' }], row.remoteJid)
        return transitions.cancel(row, ...rest)
      },
    },
    retries: new RetryStore(database, (instance) => holdOf(instance, epoch)),
    undecided: { has: () => false, run: () => Promise.resolve() },
    map: new MessageMapStore(database),
    worker: { submit: ({ id }) => void submitted.push(id), drop: () => undefined },
    accounts: { isReady: () => true },
    newId: () => 'b',
    clock,
  })
  const nothing = () => assert.fail('nothing is asked for again')
  const requests = { note: nothing, noteShownFailure: nothing }
  const changes = new MessageChanges({ requests, deletions, elsewhere: null, clock, log: silentLog })
  await outbox.enqueue(waiting, null)
  await changes.follow({ sender, destination }, deletion, 3000)
  assert.deepEqual(submitted, ['b'])
  assert.deepEqual((await outbox.open('b'))?.payload, { type: 'revoke', messageId: 70 })
})
