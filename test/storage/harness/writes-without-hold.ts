// The methods of the stores that write without a hold, and why each of them may.

const step = 'returns steps of a write, and that write carries a hold'
const fact = 'stores a fact that stays true after the instance has moved'
const lastWins =
  'changes a tenant, which belongs to no instance; of two changes the last one counts, and both are audited'
const decides = 'decides who holds the lease'
const places = 'decides who holds an instance; the condition is in the statement itself'
const ofNodes = 'is about a node; the condition is in the statement itself'

export const writesWithoutHold: Readonly<Record<string, string>> = {
  'AssignmentStore.dropWish': places,
  'AssignmentStore.handOver': places,
  'AssignmentStore.place': places,
  'AssignmentStore.quarantine': places,
  'AssignmentStore.release': places,
  'AssignmentStore.wish': places,
  'AuditStore.append': fact,
  'DeliveryStore.insert': fact,
  'DeliveryStore.prune': 'the condition is in the DELETE itself',
  'DeliveryStore.record': fact,
  'DeliveryStore.reopen': 'an operator asks for it on any process; the condition is in the UPDATE itself',
  'HistoryStore.outcomeStatement': step,
  'HistoryStore.removeStatements': step,
  'InboxStore.awaitFileStep': step,
  'InboxStore.removeStep': step,
  'JournalStore.finished': step,
  'JournalStore.inbox': step,
  'JournalStore.opened': step,
  'JournalStore.unfinished': step,
  'LeaseStore.acquire': decides,
  'LeaseStore.release': decides,
  'LeaseStore.renew': decides,
  'LeaseStore.retire': decides,
  'MessageDateStore.queueStatement': step,
  'NodeStore.beat': ofNodes,
  'NodeStore.bury': ofNodes,
  'NodeStore.drain': ofNodes,
  'NodeStore.end': ofNodes,
  'NodeStore.join': ofNodes,
  'NodeStore.prune': ofNodes,
  'NodeStore.setCapacity': ofNodes,
  'RestoredStore.prepare':
    'finds no backup to prepare without the lease; on PostgreSQL the condition is in the UPDATE itself',
  'SentMessageStore.insertStep': step,
  'SentMessageStore.withdrawStep': step,
  'TenantStore.patch': lastWins,
  'TenantStore.put': lastWins,
  'TenantStore.remove': lastWins,
  'UsageStore.add': 'adds to a sum, under a key that counts once',
}
