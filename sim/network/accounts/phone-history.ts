// The history that a phone hands to its companions: after they are linked, and when they ask for older messages.
import type { proto } from '../library.ts'
import type { MediaHost } from '../media/media-host.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { User } from '../server/user.ts'
import type { SimClock } from '../../shiftable-clock.ts'
import { unixSeconds } from '../wire/stanza.ts'
import { conversation, listedPeople, type TimerOf } from './archived-conversation.ts'
import { timeOf, type ArchivedChat, type ChatArchive } from './chat-archive.ts'
import { HistoryCarriers, type CarryingHabits } from './history-carriers.ts'
import { planHistory, type HistoryLimits, type Portion } from './history-plan.ts'
import type { HistoryWish } from './history-wish.ts'
import type { HistoryChunk, HistoryKind } from './history.ts'

export type HistoryHabits = HistoryLimits &
  CarryingHabits & {
    /** How many messages the phone sends at most for one request. */
    onDemandLimit: number
    /** Whether the phone finds a chat by both addresses of a person. Otherwise only by the one under which it keeps the chat. */
    findsBothAddresses: boolean
  }
export type OlderRequest = { chatJid: string; oldestMsgId: string; count: number; requestId: string }
type Deps = {
  archive: ChatArchive
  owner: User
  host: MediaHost
  random: SeededRandom
  clock: SimClock
  timerOf: TimerOf
}

const DEFAULT_HABITS: HistoryHabits = {
  bootstrapPerChat: 20,
  recentPerChat: 50,
  recentDays: 90,
  fullDays: 365,
  chunkMessages: 1_000,
  carrying: 'size',
  inlineBytes: 64 * 1024,
  fileTrouble: undefined,
  onDemandLimit: 50,
  findsBothAddresses: false,
}

export class PhoneHistory {
  /** A test may change them before a companion is linked or asks. */
  readonly habits: HistoryHabits = { ...DEFAULT_HABITS }
  readonly #deps: Deps
  readonly #carriers: HistoryCarriers

  constructor(deps: Deps) {
    this.#deps = deps
    const { host, random } = deps
    this.#carriers = new HistoryCarriers({ host, random, habits: this.habits })
  }

  /** The messages that a new companion gets, in order. */
  *forCompanion(wish: HistoryWish): Iterable<proto.IMessage> {
    const { archive, owner, clock } = this.#deps
    const plan = planHistory(archive, this.habits, wish, Number(unixSeconds(clock)))
    const people = listedPeople(archive.chats(), owner)
    const carry = (chunk: HistoryChunk): proto.IMessage => this.carry(chunk, wish.readsInline)
    const bootstrap = this.#chunk('bootstrap', plan.bootstrap, { chunkOrder: 0, progress: 50 })
    yield carry({ ...bootstrap, people, nctSalt: owner.nctSalt })
    yield carry({ kind: 'pushNames', people, chunkOrder: 1, progress: 100 })
    for (const chunk of this.#series('recent', plan.recent)) yield carry(chunk)
    if (wish.isFull) for (const chunk of this.#series('full', plan.full)) yield carry(chunk)
  }

  /** The answer to a request for older messages. A phone that does not know the anchor does not answer. */
  older({ chatJid, oldestMsgId, count, requestId }: OlderRequest): proto.IMessage | undefined {
    const { archive, timerOf } = this.#deps
    const chat = archive.chats().find((one) => this.#isAt(one, chatJid))
    const anchor = chat?.byId.get(oldestMsgId)
    if (!chat || !anchor) return undefined
    const all = archive.oldestFirst(chat)
    const end = all.indexOf(anchor)
    const start = Math.max(end - Math.min(count, this.habits.onDemandLimit), 0)
    const messages = all.slice(start, end).reverse()
    const remaining = start === 0 ? 'none' : 'some_on_demand'
    const found = conversation(chat, messages, remaining, timerOf)
    return this.carry({ kind: 'onDemand', conversations: () => [found], chunkOrder: 0, progress: 100, requestId })
  }

  /** Puts any piece of history into a message, also one that is not in the archive. */
  carry(chunk: HistoryChunk, readsInline?: boolean): proto.IMessage {
    return this.#carriers.carry(chunk, readsInline)
  }

  /** The last piece of a kind has the progress 100. An empty history is one empty piece. */
  *#series(kind: HistoryKind, portions: Portion[]): Iterable<HistoryChunk> {
    const nothing: Portion = new Map()
    const all = portions.length === 0 ? [nothing] : portions
    for (const [index, portion] of all.entries()) {
      const progress = Math.floor(((index + 1) * 100) / all.length)
      yield this.#chunk(kind, portion, { chunkOrder: index + 1, progress })
    }
  }

  #chunk(kind: HistoryKind, portion: Portion, place: { chunkOrder: number; progress: number }): HistoryChunk {
    const { archive, timerOf } = this.#deps
    const made = [...portion].map(([chat, messages]) => {
      const isOldest = messages.at(-1) === archive.oldestFirst(chat)[0]
      return conversation(chat, messages, isOldest ? 'none' : 'some', timerOf)
    })
    made.sort((one, two) => Number(two.conversationTimestamp) - Number(one.conversationTimestamp))
    const times = [...portion.values()].flatMap((messages) => messages.slice(-1)).map(timeOf)
    return { kind, conversations: () => made, oldestAt: times.length > 0 ? Math.min(...times) : undefined, ...place }
  }

  #isAt({ target, jid }: ArchivedChat, asked: string): boolean {
    if (jid === asked) return true
    return this.habits.findsBothAddresses && target instanceof User && [target.pnJid, target.lidJid].includes(asked)
  }
}
