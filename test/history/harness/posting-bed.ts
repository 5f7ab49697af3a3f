// Posts messages of the history: the inbound bridge with its bed, kept rows in a real database, and a scripted helpdesk.

import { createPosting } from '../../../src/app/history/create-posting.ts'
import type { PostingSet } from '../../../src/app/history/create-posting.ts'
import { chatJid } from '../../../src/core/address.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { OpenConversation } from '../../../src/bridge/conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../../../src/bridge/conversations/conversation-opener.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import type { DatedPost, PastDates } from '../../../src/history/posting/past-message.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import type { HistoryOutcome } from '../../../src/storage/schema/history.ts'
import { HistoryStore } from '../../../src/storage/stores/history/history-store.ts'
import { BridgeBed, desk } from '../../bridge/inbound/harness/bridge-bed.ts'
import { holdOf, holds } from '../../harness/holds.ts'

type Options = { engine?: EngineName; environment?: Record<string, string>; instances?: string[] }

export const jobId = 'job-1'
const sourceId = '5511988887777'

export class PostingBed {
  readonly bridge: BridgeBed
  readonly history: HistoryStore
  readonly stopping = new AbortController()
  /** How agents learn when a message was written; a test may replace it. */
  dates: PastDates = { headOf: () => Promise.resolve(null), stepsOf: () => [] }
  readonly dated: DatedPost[] = []
  conversation: OpenConversation = { id: 0, newest: 0 }
  /** How often a conversation was asked for. */
  asked = 0
  readonly #options: Options
  #ids = 0

  private constructor(bridge: BridgeBed, options: Options) {
    this.bridge = bridge
    this.history = new HistoryStore(bridge.database)
    this.#options = options
  }

  static async open(options: Options = {}): Promise<PostingBed> {
    const bed = new PostingBed(await BridgeBed.open(options), options)
    const { id } = await bed.bridge.helpdesk.openConversation(desk.key, sourceId)
    bed.conversation = { id, newest: 0 }
    return bed
  }

  get helpdesk() {
    return this.bridge.helpdesk
  }

  get target(): HelpdeskTarget {
    return { instance: 'shop', destination: desk, helpdesk: this.helpdesk.helpdesk(desk), onStep: () => undefined }
  }

  /** The parts of the process that runs now. */
  get posting(): PostingSet {
    const { bridge } = this
    const { set, database, clock, logs, metrics } = bridge
    const config = loadConfig({ DATABASE_URL: 'file:./x.db', ...this.#options.environment })
    return createPosting(
      { config, clock, log: logs.log },
      {
        settingsOf: bridge.settingsOf,
        ...{ database, holds, people: set.people, contexts: set.contexts, posting: set.posting, metrics },
        contactOf: (spec, { helpdesk }) => helpdesk.ensureContact(spec),
        dates: {
          headOf: (...which) => this.dates.headOf(...which),
          stepsOf: (posted) => {
            this.dated.push(posted)
            return this.dates.stepsOf(posted)
          },
        },
        lateCommitMs: 20_000,
      },
    )
  }

  /** Keeps the events, as the phone has sent them. */
  async keep(...events: NetworkEvent[]): Promise<void> {
    const rows = events.map((event) => {
      const position = ++this.#ids
      return { id: `h${position}`, chatJid: chatJid(event.chat), participant: '', position, event }
    })
    await this.history.keep(holdOf('a'), rows, new Map())
  }

  /** Keeps the events and imports them, oldest first. */
  async import(...events: NetworkEvent[]): Promise<HistoryOutcome[]> {
    await this.keep(...events)
    return this.run(events)
  }

  /** Imports what is kept of the chats of these events. */
  async run(events: readonly NetworkEvent[], changes: { mediaSince?: number; jobId?: string } = {}) {
    const jids = [...new Set(events.map(({ chat }) => chatJid(chat)))]
    const { poster } = this.posting
    const outcomes: HistoryOutcome[] = []
    for (const row of await this.history.pending('a', jids, { since: 0, after: null, limit: 1000 })) {
      const conversation = () => {
        this.asked++
        return Promise.resolve(this.conversation)
      }
      const into = { instance: 'a', jobId, target: this.target, conversation, mediaSince: null, ...changes }
      outcomes.push(await poster.post(row, into, this.stopping.signal))
    }
    return outcomes
  }

  /** What the stored rows of the job say. */
  async counts(event: NetworkEvent) {
    const { posted, skipped, filtered, error } = await this.history.outcomes('a', [chatJid(event.chat)], jobId)
    return { posted, skipped, filtered, error }
  }

  async counted(): Promise<Record<string, number>> {
    const { values } = await this.bridge.metrics.realtimeEvents.get()
    const own = values.filter(({ labels }) => labels.feature === 'history_import')
    return Object.fromEntries(own.map(({ labels, value }) => [String(labels.result), value] as const))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopping.abort()
    await this.bridge[Symbol.asyncDispose]()
  }
}
