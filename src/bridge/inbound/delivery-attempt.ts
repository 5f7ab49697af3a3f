// One attempt to take an event to the helpdesk: what it says, where it belongs, its file, and the post.

import type { Chat } from '../../core/address.ts'
import type { Destination, Downstream } from '../../core/downstream.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { lateFile } from '../../storage/stores/messages/inbox-store.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import type { GroupHeaders } from './compose/group-headers.ts'
import type { EventDraft, EventComposer } from './compose/event-composer.ts'
import type { EventContexts, EventContext } from '../conversations/event-context.ts'
import type { ConversationDirectory, OpenConversation } from '../conversations/conversation-directory.ts'
import type { ExactlyOncePoster, PostState } from './exactly-once-poster.ts'
import type { InboundMetrics, RealtimeResult } from './inbound-metrics.ts'
import { FileTooLarge } from './files/file-spool.ts'
import type { FetchedMedia, FileFetcher } from './files/file-fetcher.ts'
import { messageKeyOf } from './message-key.ts'
import type { Texts } from './compose/texts.ts'

export type AttemptDeps = {
  inbox: Pick<InboxStore, 'remove'>
  map: Pick<MessageMapStore, 'findByNetworkId'>
  people: EventContexts
  composer: EventComposer
  headers: GroupHeaders
  files: FileFetcher
  directory: ConversationDirectory
  poster: ExactlyOncePoster
  downstream: Pick<Downstream, 'helpdesk'>
  isIgnored: (chat: Chat) => boolean
  report: InboundMetrics
  texts: Texts
  mediaMaxBytes: number
  epoch: () => number
  clock: Clock
  log: Log
}

/** whole: as it was sent · bare: without the file that was refused · notice: only a word that there was a message */
type Stage = 'whole' | 'bare' | 'notice'

/** What is kept between the attempts for one message. */
export type DeliveryProgress = {
  destination: string
  state: PostState
  stage: Stage
  failures: number
  unexplained: number
  relocations: number
  refusals: number
  /** A probe found the destination working since the last failure. */
  hasProbed: boolean
  /** What a failure counts as. */
  doing: EventDraft['counted'] | 'contact' | 'conversation'
  file?: FetchedMedia | 'missing' | 'too_large'
}

export class DeliveryAttempt {
  readonly #deps: AttemptDeps

  constructor(deps: AttemptDeps) {
    this.#deps = deps
  }

  /** Rejects with what went wrong; `attempt` then says what the next one must know. */
  async run(row: InboxRow, destination: Destination, attempt: DeliveryProgress, signal: AbortSignal): Promise<void> {
    const { people, composer, headers, isIgnored, downstream, report } = this.#deps
    const { event, instance } = row
    if (isIgnored(event.chat)) {
      report.passedOver(instance, 'ignored chat')
      await this.#settle(row, 'filtered')
      return
    }
    const scene = await people.contextOf(instance, event)
    if (await this.#isOvertaken(row, scene)) {
      await this.#settle(row, 'duplicate')
      return
    }
    const showsHeader = headers.needed(`${destination.key}|${scene.place.chat}`, scene.senderId)
    const draft = await composer.compose({ instance, event, scene, showsHeader })
    const inbox = downstream.helpdesk(destination)
    if (event.kind === 'group') await this.#followGroup(row, scene, destination)
    if ('skipped' in draft) {
      await this.#settle(row, draft.skipped)
      return
    }
    const onStep = (step: DeliveryProgress['doing']) => {
      attempt.doing = step
    }
    onStep('conversation')
    const conversation = await this.#conversationOf(row, {
      scene,
      draft,
      desk: { destination, helpdesk: inbox, onStep },
    })
    if (typeof conversation === 'string') {
      await this.#settle(row, conversation)
      return
    }
    await this.#post({ row, destination, attempt, scene, draft, conversation }, signal)
  }

  /** What is about an earlier message stays with it; anything else goes where the chat is held. */
  async #conversationOf(
    { event, instance }: InboxRow,
    where: { scene: EventContext; draft: EventDraft; desk: HelpdeskTarget },
  ): Promise<OpenConversation | 'no_contact' | 'no_conv'> {
    const { directory, map, poster } = this.#deps
    const { scene, draft, desk } = where
    if ('target' in event) {
      await poster.flushed(instance)
      const known = await map.findByNetworkId(instance, [event.target.id])
      const target = known.find((each) => each.destination === desk.destination.key && each.messageId !== null)
      const about = { chat: scene.place, mayReopen: draft.opens }
      const id = target?.conversationId ?? null
      const earlier = id === null ? null : await directory.earlier(id, about, desk)
      if (earlier) return earlier
    }
    return draft.opens ? directory.conversationFor(scene.place, desk) : directory.existing(scene.place, desk)
  }

  async #post(
    work: {
      row: InboxRow
      destination: Destination
      attempt: DeliveryProgress
      scene: EventContext
      draft: EventDraft
      conversation: OpenConversation
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { row, destination, attempt, scene, draft, conversation } = work
    const { poster, headers, downstream, report, clock } = this.#deps
    const { event, instance } = row
    attempt.doing = draft.counted
    await this.#fetchFile(row, draft, attempt, signal)
    const { content, files, isLate } = this.#contentOf(draft, attempt)
    const { outcome, messageId } = await poster.post(
      {
        identity: {
          instance,
          destination: destination.key,
          chat: scene.place.chat,
          sender: scene.senderId,
          networkId: event.id,
          kind: draft.kind,
        },
        direction: event.fromMe ? 'echo' : 'in',
        networkKey: messageKeyOf(event),
        networkAt: event.at,
        remember: draft.remember,
        helpdesk: downstream.helpdesk(destination),
        conversation,
        replyTo: draft.replyTo,
        message: { type: draft.type, content, isEcho: event.fromMe, private: draft.isPrivate, files },
        rowId: row.id,
        ...(isLate && { restKind: lateFile }),
      },
      attempt.state,
      signal,
    )
    headers.note(`${destination.key}|${scene.place.chat}`, scene.senderId)
    if (outcome === 'posted') report.accepted(instance)
    const result = outcome === 'posted' ? 'ok' : 'duplicate'
    report.countResult(instance, event.kind, result)
    if (outcome === 'duplicate') {
      report.duplicate(instance, event.kind)
      await this.#deps.inbox.remove(this.#deps.epoch(), row.id)
    }
    this.#log(row, {
      result,
      conversation: conversation.id,
      message: messageId,
      attempts: attempt.failures + 1,
      bytes: files[0]?.size ?? undefined,
      ms: clock.now() - row.receivedAt,
    })
  }

  /** A message that could not be opened at first, and has come meanwhile. */
  async #isOvertaken({ instance, event }: InboxRow, { place, senderId }: EventContext): Promise<boolean> {
    if (event.kind !== 'undecryptable') return false
    await this.#deps.poster.flushed(instance)
    const known = await this.#deps.map.findByNetworkId(instance, [event.id])
    return known.some(
      ({ chat, sender, kind, messageId }) =>
        chat === place.chat && sender === senderId && kind !== 'undecryptable' && messageId !== null,
    )
  }

  async #fetchFile(
    { instance, event }: InboxRow,
    { media }: EventDraft,
    attempt: DeliveryProgress,
    signal: AbortSignal,
  ) {
    if (!media || attempt.file !== undefined || attempt.stage !== 'whole') return
    try {
      attempt.file = await this.#deps.files.fetch({ instance, media, key: messageKeyOf(event) }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      attempt.file = error instanceof FileTooLarge ? 'too_large' : 'missing'
      this.#deps.report.failed(instance, 'media')
      this.#deps.log.warn({ err: error, instance, media: media.media }, 'a file could not be fetched')
    }
  }

  #contentOf({ media, write }: EventDraft, { stage, file }: DeliveryProgress) {
    const { texts, mediaMaxBytes } = this.#deps
    if (stage === 'notice')
      return { content: write({ notice: texts.unreadable, instead: true }), files: [], isLate: false }
    if (!media) return { content: write(), files: [], isLate: false }
    const what = texts.media[media.media]
    if (stage === 'bare') return { content: write({ notice: texts.fileRefused(what) }), files: [], isLate: false }
    if (typeof file === 'object') return { content: write(), files: [file.upload], isLate: false }
    if (file === 'missing') return { content: write({ notice: texts.fileMissing(what) }), files: [], isLate: true }
    const notice = texts.fileTooLarge(what, sizeOf(mediaMaxBytes))
    return { content: write({ notice }), files: [], isLate: false }
  }

  /** The network's news of a group: what is remembered of it is out of date. */
  async #followGroup({ instance, event }: InboxRow, scene: EventContext, destination: Destination): Promise<void> {
    if (event.kind !== 'group') return
    const subject = event.changes.find((change) => change.change === 'subject')
    if (!subject) return
    const { directory, downstream } = this.#deps
    await directory.rename(
      { ...scene.place, instance },
      subject.subject,
      destination.key,
      downstream.helpdesk(destination),
    )
  }

  async #settle(row: InboxRow, result: RealtimeResult): Promise<void> {
    await this.#deps.inbox.remove(this.#deps.epoch(), row.id)
    this.#deps.report.countResult(row.instance, row.event.kind, result)
    this.#log(row, { result, ms: this.#deps.clock.now() - row.receivedAt })
  }

  #log({ instance, event }: InboxRow, facts: object): void {
    const { kind, fromMe, chat } = event
    const about = { instance, kind, content: event.kind === 'message' ? event.content.type : undefined }
    this.#deps.log.info({ ...about, from_me: fromMe, chat: chat.kind, ...facts }, 'message from the network handled')
  }
}

function sizeOf(bytes: number): string {
  const kilobytes = Math.floor(bytes / 1024)
  return kilobytes < 1024 ? `${kilobytes} kB` : `${Math.floor(kilobytes / 1024)} MB`
}
