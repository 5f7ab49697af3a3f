// The calls of the stores of labels.

import type { StoreCall, Stores } from './all-stores.ts'

const instance = 'shop'
const agreement = { destination: 'https://desk|1|1', conversationId: 7, titles: ['vip'] }

const marked = ({ agreements }: Stores, id: string) =>
  agreements.markDue(instance, { chats: [id], mark: `mark ${id}`, at: 1000 })

export const labelCalls: Readonly<Record<string, StoreCall>> = {
  'LabelStore.labels': { kind: 'read', run: ({ labels }) => labels.labels(instance) },
  'LabelStore.labelsOf': { kind: 'read', run: ({ labels }) => labels.labelsOf(instance, ['1@lid']) },
  'LabelStore.chatsWith': { kind: 'read', run: ({ labels }) => labels.chatsWith(instance, ['1']) },
  'LabelStore.labelledChats': { kind: 'read', run: ({ labels }) => labels.labelledChats(instance) },
  'LabelStore.update': {
    kind: 'repeated',
    run: ({ labels }, id) =>
      labels.update(
        instance,
        {
          labels: [{ id, name: 'VIP', title: 'vip' }],
          labelled: [{ jid: '1@lid', labelId: id }],
          unlabelled: [{ jid: '2@lid', labelId: id }],
          isWhole: false,
        },
        { chats: [id], mark: `mark ${id}`, at: 1000 },
      ),
  },
  'LabelAgreementStore.find': { kind: 'read', run: ({ agreements }, id) => agreements.find({ instance, chat: id }) },
  'LabelAgreementStore.agreedChats': { kind: 'read', run: ({ agreements }) => agreements.agreedChats(instance) },
  'LabelAgreementStore.markDue': { kind: 'repeated', run: marked },
  'LabelAgreementStore.due': { kind: 'read', run: ({ agreements }) => agreements.due(instance, 1000, 10) },
  'LabelAgreementStore.nextDueAt': { kind: 'read', run: ({ agreements }) => agreements.nextDueAt(instance) },
  'LabelAgreementStore.settle': {
    kind: 'repeated',
    given: marked,
    run: ({ agreements }, id) => agreements.settle({ instance, chat: id }, agreement, `mark ${id}`, null),
  },
}
