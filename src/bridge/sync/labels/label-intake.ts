// Stores what the network and the helpdesk tell about labels, and which chats must be looked at because of it.

import { groupChatId, parseChat } from '../../../core/address.ts'
import type { ChatId, InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { ConversationLabels, LabelNews, LabelReception } from '../../../core/sync/labels.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Clock } from '../../../lib/clock.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import type { Log } from '../../../lib/log.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { LabelAgreementStore } from '../../../storage/stores/people/label-agreement-store.ts'
import type { LabelledChat, LabelStore } from '../../../storage/stores/people/label-store.ts'
import type { People } from '../../people/people.ts'
import type { RealtimeCounts } from '../realtime-counts.ts'
import type { LabelWrites } from './label-writes.ts'
import { workOut } from './label-update.ts'

type Deps = {
  labels: Pick<LabelStore, 'labels' | 'labelsOf' | 'chatsWith' | 'labelledChats' | 'update'>
  agreements: Pick<LabelAgreementStore, 'agreedChats' | 'markDue'>
  people: Pick<People, 'lookUpAll'>
  writes: Pick<LabelWrites, 'heard'>
  counts: Pick<RealtimeCounts, 'count'>
  /** Chats of the instance are due. */
  wake: (instance: InstanceName) => void
  newMark: () => RowId
  clock: Clock
  log: Log
}

/** For more changes than this, all labelled chats are read at once. */
const mostAskedFor = 1000

export class LabelIntake implements LabelReception, PerInstance {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()
  /** Since the start of the process all labelled chats were marked once: agents may have changed labels before. */
  readonly #isLookedThrough = new Set<InstanceName>()
  /** Instances whose account has no labels. */
  readonly #withoutLabels = new Set<InstanceName>()
  /** Chats that must be looked at, and that storage could not mark. */
  readonly #unmarked = new Map<InstanceName, Set<ChatId>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  keepsLabels(): boolean {
    return true
  }

  onNoLabels(instance: InstanceName): void {
    if (this.#withoutLabels.has(instance)) return
    this.#withoutLabels.add(instance)
    this.#deps.counts.count(instance, 'labels', 'not_business')
    this.#deps.log.info({ instance }, 'labels are not synced: this is no WhatsApp Business account')
  }

  onLabels(instance: InstanceName, news: LabelNews): Promise<void> {
    this.#withoutLabels.delete(instance)
    return this.#lanes.run(instance, () => this.#take(instance, news))
  }

  /** The labels of a conversation were changed at the helpdesk. Resolves when that is stored, or when storage has failed. */
  onLabelled(labels: ConversationLabels): Promise<void> {
    this.#deps.writes.heard(labels)
    return this.chatChanged(labels.instance, labels.chat)
  }

  /** The labels of a chat may be others now, or the chat may have another conversation. Never rejects. */
  async chatChanged(instance: InstanceName, chat: ChatId): Promise<void> {
    if (!this.#withoutLabels.has(instance)) await this.#mark(instance, [chat])
  }

  /** Marks what storage could not mark before. A ticker calls it. */
  async retry(): Promise<void> {
    for (const [instance, chats] of [...this.#unmarked]) {
      this.#unmarked.delete(instance)
      await this.#mark(instance, [...chats])
    }
  }

  leave(instance: InstanceName): void {
    this.#isLookedThrough.delete(instance)
    this.#withoutLabels.delete(instance)
    this.#unmarked.delete(instance)
  }

  async #mark(instance: InstanceName, chats: readonly ChatId[]): Promise<void> {
    const { agreements, clock, newMark, wake, log } = this.#deps
    try {
      await agreements.markDue(instance, { chats, mark: newMark(), at: clock.now() })
      wake(instance)
    } catch (err) {
      if (!this.#unmarked.has(instance)) log.warn({ err, instance }, 'changes of labels are not stored yet')
      const unmarked = getOrCreate(this.#unmarked, instance, () => new Set())
      for (const chat of chats) unmarked.add(chat)
    }
  }

  async #take(instance: InstanceName, news: LabelNews): Promise<void> {
    const { labels, clock, newMark, wake } = this.#deps
    const known = { labels: await labels.labels(instance), chats: await this.#concerned(instance, news) }
    const { update, affected } = workOut(known, news)
    const isAboutAll = news.isNewLink || !this.#isLookedThrough.has(instance)
    const all = isAboutAll ? await this.#allChats(instance) : []
    // What the service itself has changed is looked at already.
    const changed = news.isOwn ? [] : await this.#chatsOf(instance, affected)
    const chats = [...new Set([...changed, ...all])]
    const due = { chats, mark: newMark(), at: clock.now(), forgetsAgreements: news.isNewLink }
    await labels.update(instance, update, due)
    this.#isLookedThrough.add(instance)
    wake(instance)
  }

  /** The labels of chats that the news may change. An account may have many thousands of others. */
  async #concerned(instance: InstanceName, { changes, isWhole }: LabelNews): Promise<LabelledChat[]> {
    const { labels } = this.#deps
    if (isWhole || changes.length > mostAskedFor) return labels.labelledChats(instance)
    const jids = changes.flatMap((change) => (change.kind === 'chat' ? change.chat : []))
    const edited = changes.flatMap((change) => (change.kind === 'chat' ? [] : change.labelId))
    return [
      ...(await labels.labelsOf(instance, [...new Set(jids)])),
      ...(await labels.chatsWith(instance, [...new Set(edited)])),
    ]
  }

  async #allChats(instance: InstanceName): Promise<ChatId[]> {
    const { labels, agreements } = this.#deps
    const jids = (await labels.labelledChats(instance)).map(({ jid }) => jid)
    return [...(await agreements.agreedChats(instance)), ...(await this.#chatsOf(instance, new Set(jids)))]
  }

  /** Our keys of the chats. A person whom we do not know has no conversation either. */
  async #chatsOf(instance: InstanceName, jids: ReadonlySet<Jid>): Promise<ChatId[]> {
    const chats = [...jids].map(parseChat).filter((chat) => chat !== undefined)
    const people = chats.filter((chat) => chat.kind === 'person')
    const recordOf = await this.#deps.people.lookUpAll(instance, people)
    return chats.flatMap((chat) => (chat.kind === 'group' ? groupChatId(chat.id) : (recordOf(chat)?.id ?? [])))
  }
}
