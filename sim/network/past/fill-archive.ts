// Fills the archive of a phone with made-up chats and says what they contain, so that a test can check what becomes of them.
//
// The same plan always makes the same chats. Two messages of a chat share a second, so that only their order on the phone
// tells which came first.
import type { SimPhone } from '../accounts/sim-phone.ts'
import type { ChatForm, PairSource } from '../accounts/chat-archive.ts'
import type { SimGroup } from '../groups/sim-group.ts'
import type { SimPerson } from '../people/sim-person.ts'
import type { SimNetwork } from '../sim-network.ts'
import { PastContents, pastKinds, shapeOf, type PastItem, type PastKind } from './past-items.ts'

export type ArchivePlan = {
  chats: number
  messages: number
  /** Every n-th chat is a group, and every n-th chat with a person is kept under the LID. 0: none. */
  groupEvery?: number
  lidEvery?: number
  /** The messages are spread over the days before `until` (unix seconds). The default is now. */
  days?: number
  until?: number
}
type KindCounts = Record<PastKind, number>
export type FilledChat = {
  /** The address under which the phone keeps the chat. */
  jid: string
  with: SimPerson | SimGroup
  /** Oldest first. */
  items: PastItem[]
  counts: KindCounts
}
export type FilledArchive = { chats: FilledChat[]; counts: KindCounts; messages: number; reactions: number }
type Place = { phone: SimPhone; number: number; messages: number; from: number; until: number }

const DAY_S = 24 * 60 * 60
const PAIRS: readonly PairSource[] = ['chat', 'list', 'receipts']

export function fillArchive(network: SimNetwork, phone: SimPhone, plan: ArchivePlan): FilledArchive {
  const { chats, messages, groupEvery = 6, lidEvery = 4, days = 20 } = plan
  const until = plan.until ?? Math.floor(network.clock.now() / 1000)
  const contents = new PastContents(phone)
  const made: FilledChat[] = []
  let lidChats = 0
  for (let number = 0; number < chats; number++) {
    const share = Math.floor(messages / chats) + (number < messages % chats ? 1 : 0)
    const place = { phone, number, messages: share, from: until - days * DAY_S, until }
    if (isNth(number, groupEvery)) {
      made.push(fillGroup(network, place, contents))
    } else {
      const isLid = isNth(number, lidEvery)
      const pair = PAIRS[lidChats % PAIRS.length] ?? 'chat'
      if (isLid) lidChats += 1
      made.push(fillPerson(network, place, isLid ? { addressing: 'lid', pair } : {}, contents))
    }
  }
  const items = made.flatMap((chat) => chat.items)
  const reactions = items.reduce((sum, item) => sum + item.reactions, 0)
  return { chats: made, counts: countsOf(items), messages: items.length, reactions }
}

function fillPerson(network: SimNetwork, place: Place, form: ChatForm, contents: PastContents): FilledChat {
  const person = pastPerson(network, place, 0)
  place.phone.keepChat(person, form)
  return fillChat(person, [person], place, contents)
}

function fillGroup(network: SimNetwork, place: Place, contents: PastContents): FilledChat {
  const { phone, number } = place
  const members = [1, 2, 3].map((member) => pastPerson(network, place, member))
  const [creator] = members
  if (!creator) throw new Error('a group needs a member')
  const addressing = number % 2 === 0 ? 'lid' : 'pn'
  const group = network.group(`Past group ${number}`, creator, [phone, ...members], addressing)
  return fillChat(group, members, place, contents)
}

function fillChat(
  chat: SimPerson | SimGroup,
  authors: readonly SimPerson[],
  place: Place,
  contents: PastContents,
): FilledChat {
  const { phone, number, messages, from, until } = place
  const step = (until - from) / Math.max(messages, 1)
  const items: PastItem[] = []
  for (let n = 0; n < messages; n++) {
    const shape = shapeOf(number, n, Math.floor(from + step * (n - (n % 2))))
    const other = authors[n % authors.length]?.user ?? phone.user
    const author = shape.isOwn ? phone.user : other
    const reactor = shape.isOwn ? other : phone.user
    const past = contents.of(shape, items.at(-1)?.id, reactor)
    const id = phone.remember(chat, { ...past, from: author })
    items.push({ ...shape, id, author })
  }
  const target = 'user' in chat ? chat.user : chat
  return { jid: phone.archive.open(target).jid, with: chat, items, counts: countsOf(items) }
}

/** People of different accounts have different numbers. */
function pastPerson(network: SimNetwork, { phone, number }: Place, member: number): SimPerson {
  const tail = `${phone.user.phone.slice(-4)}${String(number).padStart(4, '0')}${member}`
  return network.person({ phone: `55${tail}`.padEnd(13, '7'), pushName: `Past ${number}.${member}` })
}

function isNth(number: number, every: number): boolean {
  return every > 0 && number % every === every - 1
}

function countsOf(items: readonly PastItem[]): KindCounts {
  const counts = Object.fromEntries(pastKinds.map((kind) => [kind, 0])) as KindCounts
  for (const { kind } of items) counts[kind] += 1
  return counts
}
