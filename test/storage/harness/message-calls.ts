// The calls of the stores of received messages, people and contacts.

import type { NetworkEvent } from '../../../src/core/message.ts'
import type { AdoptedMessage } from '../../../src/storage/stores/messages/adopted-message-store.ts'
import type { NewClaim } from '../../../src/storage/stores/messages/message-map-store.ts'
import type { PersonRecord } from '../../../src/storage/stores/people/people-store.ts'
import type { StoreCall, Stores } from './all-stores.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'

const destination = 'https://desk|1|7'
const posting = { conversationId: 12, since: 1000, after: 40 }
const posted = { conversationId: 12, messageId: 41, header: 'Bob' }
const chat = { kind: 'person' as const, phone: '5511988887777', lid: null }

function event(id: string): NetworkEvent {
  const rest = { pushName: null, quote: null, mentions: [], ad: null, secret: null }
  const content = { type: 'text' as const, text: 'hello' }
  return { id, at: 5, chat, sender: chat, fromMe: false, kind: 'message', content, ...rest }
}

function claim(id: string): NewClaim {
  const networkKey = { chat: '5511988887777@s.whatsapp.net', id, fromMe: false, participant: null }
  const where = { instance: 'shop', destination, chat: 'person', sender: 'person', networkId: id, kind: 'message' }
  return { id, ...where, direction: 'in', networkKey, networkAt: 5, content: { text: 'hello' }, posting }
}

const received = ({ database, journal }: Stores, id: string) =>
  database.write(journal.inbox({ id, instance: 'shop', event: event(id), receivedAt: 1000 }))
const parked = async (stores: Stores, id: string) => {
  await received(stores, id)
  await stores.inbox.park(holdOf('shop'), id, 'no')
}
const claimed = async (stores: Stores, id: string) => {
  await received(stores, id)
  await stores.map.claim(holdOf('shop'), claim(id), 'related')
}
const completed = async (stores: Stores, id: string) => {
  await claimed(stores, id)
  await stores.map.complete(holdOf('shop'), id, posted, [stores.inbox.removeStep(id)])
}
const mapped = async ({ map }: Stores, id: string) => {
  const [row] = await map.findByNetworkId('shop', [id])
  if (!row) throw new Error(`${id} is not in the message map`)
  return row
}

const person = (id: string): PersonRecord => ({
  ...{ id, phone: `phone of ${id}`, lid: null, pushName: null, savedName: null, formerPhones: [] },
})
const known = ({ people }: Stores, id: string) => people.insert(holdOf('shop'), person(id))
const contact = (id: string) => ({ sourceId: id, contactId: 3, ours: true, name: 'Bob' })
const conversation = (id: string) => ({ instance: 'shop', destination, chat: id })
const inConversation = { conversationId: 12, contactId: 3, sourceId: 'source' }
const saved = ({ contacts }: Stores, id: string) => contacts.saveContact(holdOf('shop'), destination, contact(id))
const place = (id: string) => ({ instance: 'shop', destination, sourceId: id })
const opening = ({ openings }: Stores, id: string) => openings.claim(holdOf('shop'), place(id), null, 1000)
const pictured = ({ pictures }: Stores) =>
  pictures.save(holdOf('shop'), destination, {
    ...{ contactId: 3, instance: 'shop', pictureId: '7', thumbnail: 'https://desk/a.jpg', fileName: 'a.jpg' },
    checkedAt: 1000,
  })
const opened = ({ contacts }: Stores, id: string) =>
  contacts.saveConversation(holdOf('shop'), conversation(id), inConversation, 1000)

const call = (callId: string) => ({ instance: 'shop', callId })
const rejecting = ({ rejectedCalls }: Stores, id: string) =>
  rejectedCalls.claim(call(id), { phone: id, lid: null }, 1000)
const rejected = async (stores: Stores, id: string) => {
  await rejecting(stores, id)
  await stores.rejectedCalls.confirm(call(id), { at: 1001, textOnceInMs: 10 })
}

const rejectedCallCalls: Readonly<Record<string, StoreCall>> = {
  'RejectedCallStore.claim': { kind: 'repeated', run: rejecting },
  'RejectedCallStore.unclaim': {
    kind: 'repeated',
    given: rejecting,
    run: ({ rejectedCalls }, id) => rejectedCalls.unclaim(call(id)),
  },
  'RejectedCallStore.confirm': {
    kind: 'repeated',
    given: rejecting,
    run: ({ rejectedCalls }, id) => rejectedCalls.confirm(call(id), { at: 1001, textOnceInMs: 10 }),
  },
  'RejectedCallStore.outcomeOf': { kind: 'read', run: ({ rejectedCalls }, id) => rejectedCalls.outcomeOf(call(id)) },
  'RejectedCallStore.dueTexts': { kind: 'read', run: ({ rejectedCalls }) => rejectedCalls.dueTexts(10, 'all') },
  'RejectedCallStore.settleText': {
    kind: 'repeated',
    given: rejected,
    run: ({ rejectedCalls }, id) => rejectedCalls.settleText(call(id), 'given'),
  },
  'RejectedCallStore.prune': {
    kind: 'repeated',
    given: rejected,
    run: ({ rejectedCalls }) => rejectedCalls.prune(2000),
  },
}

const adopted = (id: string): AdoptedMessage => {
  const { instance, chat: chatId, sender, networkId, networkKey } = claim(id)
  const at = { conversationId: 12, messageId: 41, at: 5, text: 'hello' }
  return { id, instance, destination, chat: chatId, sender, networkId, networkKey, direction: 'in', ...at }
}

const adoptedCalls: Readonly<Record<string, StoreCall>> = {
  'AdoptedMessageStore.save': {
    kind: 'repeated',
    run: (stores, id) => stores.adopted.save(holdOf('shop'), [adopted(id)], 1000),
  },
}

const inboxCalls: Readonly<Record<string, StoreCall>> = {
  'InboxStore.pendingIds': {
    kind: 'read',
    run: ({ inbox }) => inbox.pendingIds('shop', { after: '', newest: 'z' }, 10),
  },
  'InboxStore.newest': { kind: 'read', run: ({ inbox }) => inbox.newest('shop') },
  'InboxStore.load': { kind: 'read', run: ({ inbox }, id) => inbox.load([id]) },
  'InboxStore.lateFiles': { kind: 'read', run: ({ inbox }) => inbox.lateFiles('', 10, 'all') },
  'InboxStore.parked': { kind: 'read', run: ({ inbox }) => inbox.parked('shop', 10) },
  'InboxStore.parkedIds': { kind: 'read', run: ({ inbox }) => inbox.parkedIds('shop') },
  'InboxStore.counts': { kind: 'read', run: ({ inbox }) => inbox.counts('shop') },
  'InboxStore.remove': { kind: 'repeated', given: received, run: ({ inbox }, id) => inbox.remove(holdOf('shop'), id) },
  'InboxStore.removeStep': {
    kind: 'repeated',
    given: received,
    run: ({ database, inbox }, id) => database.write(inbox.removeStep(id)),
  },
  'InboxStore.awaitFileStep': {
    kind: 'repeated',
    given: received,
    run: ({ database, inbox }, id) => database.write(inbox.awaitFileStep(id)),
  },
  // Only the list of parked rows shows the number of attempts.
  'InboxStore.noteFailure': {
    kind: 'counted',
    given: received,
    run: ({ inbox }, id) => inbox.noteFailure(holdOf('shop'), id, 'no'),
  },
  'InboxStore.park': {
    kind: 'repeated',
    given: received,
    run: ({ inbox }, id) => inbox.park(holdOf('shop'), id, 'no'),
  },
  'InboxStore.retryParked': { kind: 'repeated', given: parked, run: ({ inbox }) => inbox.retryParked(holdOf('shop')) },
  'InboxStore.removeParked': {
    kind: 'repeated',
    given: parked,
    run: ({ inbox }, id) => inbox.removeParked(holdOf('shop'), id),
  },
  'InboxStore.dropOrphans': { kind: 'repeated', given: received, run: ({ inbox }) => inbox.dropOrphans(nodeHold()) },
  'JournalStore.opened': {
    kind: 'repeated',
    run: ({ database, journal }, id) => database.write(journal.opened('s', id, 1000)),
  },
  'JournalStore.unfinished': {
    kind: 'repeated',
    run: ({ database, journal }, id) =>
      database.write(journal.unfinished('s', { stanzaId: id, stanza: Buffer.of(1) }, 1000)),
  },
  'JournalStore.inbox': { kind: 'repeated', run: received },
  'JournalStore.wasOpened': { kind: 'read', run: ({ journal }, id) => journal.wasOpened('s', id) },
  'JournalStore.loadUnfinished': { kind: 'read', run: ({ journal }) => journal.loadUnfinished('s') },
  'JournalStore.finished': {
    kind: 'repeated',
    given: ({ database, journal }, id) =>
      database.write(journal.unfinished('s', { stanzaId: id, stanza: Buffer.of(1) }, 1000)),
    run: ({ database, journal }, id) => database.write(journal.finished('s', id)),
  },
  'JournalStore.prune': {
    kind: 'repeated',
    given: ({ database, journal }, id) => database.write(journal.opened('s', id, 1000)),
    run: ({ journal }) => journal.prune(nodeHold(), 5000),
  },
}

const mapCalls: Readonly<Record<string, StoreCall>> = {
  'MessageMapStore.claim': {
    kind: 'repeated',
    given: received,
    run: ({ map }, id) => map.claim(holdOf('shop'), claim(id), 'related'),
  },
  'MessageMapStore.beginPosting': {
    kind: 'repeated',
    given: claimed,
    run: ({ map }, id) => map.beginPosting(holdOf('shop'), id, { ...posting, since: 2000 }),
  },
  'MessageMapStore.endPosting': {
    kind: 'repeated',
    given: claimed,
    run: ({ map }, id) => map.endPosting(holdOf('shop'), id),
  },
  'MessageMapStore.complete': {
    kind: 'repeated',
    given: claimed,
    run: ({ map, inbox }, id) => map.complete(holdOf('shop'), id, posted, [inbox.removeStep(id)]),
  },
  'MessageMapStore.findByNetworkId': { kind: 'read', run: ({ map }, id) => map.findByNetworkId('shop', [id, 'other']) },
  'MessageMapStore.findByMessage': { kind: 'read', run: ({ map }) => map.findByMessage(destination, 41) },
  'MessageMapStore.reactionsAfter': {
    kind: 'read',
    given: claimed,
    run: async (stores, id) => stores.map.reactionsAfter(await mapped(stores, id)),
  },
  'MessageMapStore.oldestOf': { kind: 'read', run: ({ map }) => map.oldestOf('shop', 'person') },
  'MessageMapStore.contentOf': { kind: 'read', run: ({ map }, id) => map.contentOf(id) },
  'MessageMapStore.prune': { kind: 'repeated', given: claimed, run: ({ map }) => map.prune(nodeHold(), 5000, 1000) },
  'MessageMapStore.dropInstance': {
    kind: 'repeated',
    given: claimed,
    run: ({ map }) => map.dropInstance(nodeHold(), 'shop', 1000),
  },
  'MessageMapStore.orphans': { kind: 'read', run: ({ map }) => map.orphans() },
}

const headerOwner = { instance: 'shop', destination, sender: 'person' }
const headerCalls: Readonly<Record<string, StoreCall>> = {
  'HeaderStore.find': { kind: 'read', run: ({ headers }) => headers.find(headerOwner, 0, 10) },
  'HeaderStore.update': {
    kind: 'repeated',
    given: completed,
    run: ({ headers }, id) => headers.update(holdOf('shop'), [id], 'Robert'),
  },
  'HeaderStore.prune': {
    kind: 'repeated',
    given: completed,
    run: ({ headers }) => headers.prune(nodeHold(), 5000, 1000),
  },
  'HeaderStore.trim': {
    kind: 'repeated',
    given: completed,
    run: ({ headers }) => headers.trim(holdOf('shop'), headerOwner, 0, 1000),
  },
}

const peopleCalls: Readonly<Record<string, StoreCall>> = {
  'PeopleStore.find': { kind: 'read', run: ({ people }) => people.find('shop', { phone: '1', lid: '2' }) },
  'PeopleStore.countNamed': { kind: 'read', run: ({ people }) => people.countNamed('shop', { savedOnly: true }) },
  'PeopleStore.namedPage': {
    kind: 'read',
    run: ({ people }) => people.namedPage('shop', { savedOnly: false, after: '', limit: 10 }),
  },
  'PeopleStore.page': { kind: 'read', run: ({ people }) => people.page('shop', '', 10) },
  'PeopleStore.findAll': { kind: 'read', run: ({ people }) => people.findAll('shop', [{ phone: '1', lid: '2' }]) },
  'PeopleStore.findById': { kind: 'read', run: ({ people }, id) => people.findById('shop', id) },
  // The caller looks for the person before it stores the person again.
  'PeopleStore.insert': { kind: 'counted', run: known },
  'PeopleStore.insertUnlessKnown': {
    kind: 'repeated',
    given: ({ database }, id) =>
      database.write(database.query.insertInto('instances').values(sampleInstanceColumns(id))),
    run: ({ people }, id) => people.insertUnlessKnown(nodeHold(), id, person(id)),
  },
  'PeopleStore.update': {
    kind: 'repeated',
    given: known,
    run: ({ people }, id) => people.update(holdOf('shop'), id, { phone: `new ${id}` }, `phone of ${id}`),
  },
  'PeopleStore.merge': {
    kind: 'repeated',
    given: async (stores, id) => {
      await known(stores, id)
      await stores.people.insert(holdOf('shop'), { ...person(`${id} twin`), lid: `lid of ${id}` })
    },
    run: ({ people }, id) =>
      people.merge(holdOf('shop'), { ...person(id), lid: `lid of ${id}` }, { ...person(`${id} twin`) }),
  },
  'ContactStore.findContacts': { kind: 'read', run: ({ contacts }, id) => contacts.findContacts(destination, [id]) },
  'ContactStore.saveContact': { kind: 'repeated', run: saved },
  'ContactStore.beginRename': {
    kind: 'repeated',
    given: saved,
    run: ({ contacts }) => contacts.beginRename(holdOf('shop'), destination, 3, { from: 'Bob', to: 'Robert' }),
  },
  'ContactStore.endRename': {
    kind: 'repeated',
    given: saved,
    run: ({ contacts }) => contacts.endRename(holdOf('shop'), destination, 3, 'Robert'),
  },
  'ContactStore.peopleOf': { kind: 'read', run: ({ contacts }) => contacts.peopleOf(destination, 3) },
  'ContactStore.conversationsOf': {
    kind: 'read',
    given: opened,
    run: ({ contacts }) => contacts.conversationsOf(destination, inConversation.contactId),
  },
  'OpeningStore.find': { kind: 'read', run: ({ openings }, id) => openings.find(place(id)) },
  'OpeningStore.claim': { kind: 'repeated', given: saved, run: opening },
  'OpeningStore.release': {
    kind: 'repeated',
    given: async (stores, id) => {
      await saved(stores, id)
      await opening(stores, id)
    },
    run: ({ openings }, id) => openings.release(holdOf('shop'), place(id)),
  },
  'ContactStore.dropContact': {
    kind: 'repeated',
    given: saved,
    run: ({ contacts }, id) => contacts.dropContact(holdOf('shop'), destination, id),
  },
  'ContactStore.mergeContacts': {
    kind: 'repeated',
    given: saved,
    run: ({ contacts }) => contacts.mergeContacts(holdOf('shop'), destination, { keep: 4, drop: 3 }),
  },
  'ContactPictureStore.find': { kind: 'read', run: ({ pictures }) => pictures.find(destination, 3) },
  'ContactPictureStore.save': { kind: 'repeated', run: pictured },
  'ContactPictureStore.drop': {
    kind: 'repeated',
    given: pictured,
    run: ({ pictures }) => pictures.drop(holdOf('shop'), destination, 3),
  },
  'ContactStore.findConversation': {
    kind: 'read',
    run: ({ contacts }, id) => contacts.findConversation(conversation(id)),
  },
  'ContactStore.saveConversation': { kind: 'repeated', run: opened },
  'ContactStore.excludedConversations': {
    kind: 'read',
    run: ({ contacts }, id) => contacts.excludedConversations(conversation(id), 'source'),
  },
  'ContactStore.shownToOthersOnly': {
    kind: 'read',
    run: ({ contacts }) => contacts.shownToOthersOnly(destination, 'shop', [12, 13]),
  },
  'ContactStore.dropConversation': {
    kind: 'repeated',
    given: opened,
    run: ({ contacts }, id) => contacts.dropConversation(holdOf('shop'), conversation(id)),
  },
}

export const messageCalls: Readonly<Record<string, StoreCall>> = {
  ...{ ...inboxCalls, ...mapCalls, ...headerCalls, ...peopleCalls, ...adoptedCalls, ...rejectedCallCalls },
}
