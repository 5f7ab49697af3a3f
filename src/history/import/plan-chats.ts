// Decides which chats a job imports, and under which addresses the phone keeps each of them.

import { chatJid, groupChatId, groupIdOf, groupJid, lidJid, parseChat, phoneJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { ChatId, InstanceName, Jid } from '../../core/ids.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { People } from '../../bridge/people/people.ts'
import type { BridgedStore } from '../../storage/stores/history/bridged-store.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { PlannedChat } from '../../storage/stores/history/import-store.ts'
import type { PersonRecord } from '../../storage/stores/people/people-store.ts'

export type PlanDeps = {
  history: Pick<HistoryStore, 'chats'>
  bridged: Pick<BridgedStore, 'chats'>
  people: Pick<People, 'lookUp' | 'ofId'>
  isIgnored: (instance: InstanceName, chat: Chat) => boolean
}

type PlannedJob = Pick<HistoryJob, 'type' | 'instance' | 'params'>

/** Each person and each group once. A person of whom we have no record goes by the address. */
export async function planChats(deps: PlanDeps, job: PlannedJob, since: number): Promise<PlannedChat[]> {
  if (job.params.chat) return planOne(deps, job.instance, job.params.chat)
  const planned = new Map<ChatId, Set<Jid>>()
  const add = (chat: ChatId, jids: readonly Jid[]) => {
    const known = getOrCreate(planned, chat, () => new Set<Jid>())
    for (const jid of jids) known.add(jid)
  }
  for (const jid of await knownJids(deps, job, since)) {
    const chat = parseChat(jid)
    if (!chat || deps.isIgnored(job.instance, chat)) continue
    const person = chat.kind === 'person' ? await deps.people.lookUp(job.instance, chat) : undefined
    if (person && deps.isIgnored(job.instance, { kind: 'person', ...person })) continue
    add(keyOf(chat, person), [jid, ...(person ? addressesOf(person) : [])])
  }
  if (job.type === 'history_all') {
    for (const chat of await deps.bridged.chats(job.instance)) {
      if (!planned.has(chat)) add(chat, await jidsOf(deps, job.instance, chat))
    }
  }
  return [...planned].flatMap(([chat, jids]) => (jids.size === 0 ? [] : { chat, jids: [...jids] }))
}

/** All addresses are of the same chat. Some of them may be spellings that the network does not use. */
async function planOne(
  { people, isIgnored }: PlanDeps,
  instance: InstanceName,
  jids: readonly Jid[],
): Promise<PlannedChat[]> {
  const chats = jids.flatMap((jid) => parseChat(jid) ?? [])
  const [first] = chats
  if (!first || chats.some((chat) => isIgnored(instance, chat))) return []
  let person: PersonRecord | undefined
  for (const chat of chats) if (chat.kind === 'person') person ??= await people.lookUp(instance, chat)
  return [{ chat: keyOf(first, person), jids: [...new Set([...jids, ...(person ? addressesOf(person) : [])])] }]
}

/** The addresses under which the phone keeps the chats that it has told of. */
async function knownJids({ history }: PlanDeps, job: PlannedJob, since: number): Promise<readonly Jid[]> {
  const chats = await history.chats(job.instance, since)
  // The phone is not asked for more, so a chat without kept messages has nothing to import.
  const wanted = job.params.count === null ? chats.filter(({ pending }) => pending > 0) : chats
  return wanted.map(({ jid }) => jid)
}

async function jidsOf({ people, isIgnored }: PlanDeps, instance: InstanceName, chat: ChatId): Promise<Jid[]> {
  const group = groupIdOf(chat)
  if (group !== null) return isIgnored(instance, { kind: 'group', id: group }) ? [] : [groupJid(group)]
  const person = await people.ofId(instance, chat)
  return !person || isIgnored(instance, { kind: 'person', ...person }) ? [] : addressesOf(person)
}

function keyOf(chat: Chat, person: PersonRecord | undefined): ChatId {
  if (chat.kind === 'group') return groupChatId(chat.id)
  const address: string = chatJid(chat)
  return person ? person.id : address
}

/** The phone may keep a chat under each address that the person has or had. */
function addressesOf({ phone, lid, formerPhones }: PersonRecord): Jid[] {
  const phones = [...(phone === null ? [] : [phone]), ...formerPhones]
  return [...phones.map(phoneJid), ...(lid === null ? [] : [lidJid(lid)])]
}
