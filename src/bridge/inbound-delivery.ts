// Takes one event from the inbox to the helpdesk, through whatever goes wrong on the way, until it is done with or set aside.

import type { Chat } from '../core/address.ts'
import { DownstreamError } from '../core/downstream.ts'
import type { Destination, Downstream } from '../core/downstream.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Gate } from '../lib/gate.ts'
import type { Log } from '../lib/log.ts'
import { lateFile } from '../storage/inbox-store.ts'
import type { InboxRow, InboxStore } from '../storage/inbox-store.ts'
import type { MessageMapStore } from '../storage/message-map-store.ts'
import type { DestinationHolds } from './destination-holds.ts'
import type { GroupHeaders } from './group-headers.ts'
import type { Draft, InboundComposer } from './inbound-compose.ts'
import { judgeFailure } from './inbound-failures.ts'
import type { InboundPeople, Scene } from './inbound-people.ts'
import type { InboundPlaces, OpenConversation } from './inbound-places.ts'
import type { InboundPoster, PostState } from './inbound-post.ts'
import type { InboundReport, RealtimeResult } from './inbound-report.ts'
import { FileTooLarge } from './incoming-files.ts'
import type { FetchedFile, IncomingFiles } from './incoming-files.ts'
import { messageKeyOf } from './message-key.ts'
import type { Texts } from './texts.ts'

export type DeliveryDeps = {
  inbox: Pick<InboxStore, 'remove' | 'noteFailure' | 'park'>
  map: Pick<MessageMapStore, 'findByNetworkId'>
  people: InboundPeople
  composer: InboundComposer
  headers: GroupHeaders
  files: IncomingFiles
  places: InboundPlaces
  poster: InboundPoster
  holds: DestinationHolds
  downstream: Pick<Downstream, 'inbox'>
  /** Null while the instance has no destination. */
  route: (instance: string) => Promise<Destination | null>
  isIgnored: (chat: Chat) => boolean
  report: InboundReport
  texts: Texts
  inboxTtlMs: number
  mediaMaxBytes: number
  epoch: () => number
  clock: Clock
  log: Log
}

/** whole: as it was sent · bare: without the file that was refused · notice: only a word that there was a message */
type Stage = 'whole' | 'bare' | 'notice'
type Attempt = {
  destination: string
  state: PostState
  stage: Stage
  failures: number
  unexplained: number
  file?: FetchedFile | 'missing' | 'too_large'
}

export type Delivered = 'done' | 'parked' | 'stopped'

// How many posts one destination is given at a time.
const postsAtOnce = 16
const maxReason = 500

export class InboundDelivery {
  readonly #deps: DeliveryDeps
  readonly #gates = new Map<string, Gate>()

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** Never rejects; `stopped` leaves the row for another time. */
  async deliver(row: InboxRow, signal: AbortSignal): Promise<Delivered> {
    const attempt: Attempt = { destination: '', state: {}, stage: 'whole', failures: 0, unexplained: 0 }
    try {
      while (!signal.aborted) {
        const ended = await this.#try(row, attempt, signal)
        if (ended) return ended
      }
      return 'stopped'
    } finally {
      if (typeof attempt.file === 'object') await attempt.file[Symbol.asyncDispose]()
    }
  }

  /** Undefined when it is worth another try now. */
  async #try(row: InboxRow, attempt: Attempt, signal: AbortSignal): Promise<Delivered | undefined> {
    let destination: Destination | undefined
    try {
      destination = await this.#destinationOf(row.instance, signal)
      if (!destination) return 'stopped'
      // What is known of a message is valid only at the destination it was posted to.
      if (attempt.destination !== destination.key) Object.assign(attempt, { destination: destination.key, state: {} })
      await this.#once(row, destination, attempt, signal)
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'stopped'
      return this.#afterFailure(row, destination, attempt, error, signal)
    }
  }

  /** Waits until the instance has a destination that nothing is known against; undefined when stopped. */
  async #destinationOf(instance: string, signal: AbortSignal): Promise<Destination | undefined> {
    const { route, holds } = this.#deps
    while (!signal.aborted) {
      const destination = await route(instance)
      const name = destination?.key ?? `${instance} (no helpdesk configured)`
      if (destination && !holds.waitFor(name)) return destination
      if (!destination) this.#holdUnconfigured(instance, name)
      await settledOrAborted(holds.waitFor(name), signal)
    }
    return undefined
  }

  #holdUnconfigured(instance: string, name: string): void {
    const reason = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
    this.#deps.holds.hold(name, reason, async () => {
      if (!(await this.#deps.route(instance))) throw new Error(reason)
    })
  }

  async #once(row: InboxRow, destination: Destination, attempt: Attempt, signal: AbortSignal): Promise<void> {
    const { people, composer, headers, isIgnored, downstream, places, report } = this.#deps
    const { event, instance } = row
    if (isIgnored(event.chat)) {
      report.passedOver(instance, 'ignored chat')
      await this.#settle(row, 'filtered')
      return
    }
    if (await this.#isOvertaken(row)) {
      await this.#settle(row, 'duplicate')
      return
    }
    const scene = await people.sceneOf(instance, event)
    const showsHeader = headers.needed(`${destination.key}|${scene.place.chat}`, scene.senderId)
    const draft = await composer.compose({ instance, event, scene, showsHeader })
    const inbox = downstream.inbox(destination)
    if (event.kind === 'group') await this.#followGroup(row, scene, destination)
    if ('skipped' in draft) {
      await this.#settle(row, draft.skipped)
      return
    }
    const conversation = draft.opens
      ? await places.conversationFor(scene.place, destination, inbox)
      : await places.existing(scene.place, destination, inbox)
    if (typeof conversation === 'string') {
      await this.#settle(row, conversation)
      return
    }
    await this.#post({ row, destination, attempt, scene, draft, conversation }, signal)
  }

  async #post(
    work: {
      row: InboxRow
      destination: Destination
      attempt: Attempt
      scene: Scene
      draft: Draft
      conversation: OpenConversation
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { row, destination, attempt, scene, draft, conversation } = work
    const { poster, headers, downstream, report, clock } = this.#deps
    const { event, instance } = row
    await this.#fetchFile(row, draft, attempt, signal)
    const { content, files, isLate } = this.#contentOf(draft, attempt)
    const leave = await this.#gateOf(destination.key).enter(signal)
    try {
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
          inbox: downstream.inbox(destination),
          conversation,
          replyTo: draft.replyTo,
          message: { type: draft.type, content, isEcho: event.fromMe, private: draft.isPrivate, files },
          inboxId: row.id,
          ...(isLate && { restKind: lateFile }),
        },
        attempt.state,
        signal,
      )
      headers.note(`${destination.key}|${scene.place.chat}`, scene.senderId)
      if (outcome === 'posted') report.accepted(instance)
      const result = outcome === 'posted' ? 'ok' : 'duplicate'
      report.settled(instance, event.kind, result)
      if (outcome === 'duplicate') await this.#deps.inbox.remove(this.#deps.epoch(), row.id)
      this.#log(row, {
        result,
        conversation: conversation.id,
        message: messageId,
        attempts: attempt.failures + 1,
        bytes: files[0]?.size ?? undefined,
        ms: clock.now() - row.receivedAt,
      })
    } finally {
      leave()
    }
  }

  /** A message that could not be opened at first, and has come meanwhile. */
  async #isOvertaken({ instance, event }: InboxRow): Promise<boolean> {
    if (event.kind !== 'undecryptable') return false
    const known = await this.#deps.map.findByNetworkId(instance, [event.id])
    return known.some(({ kind, messageId }) => kind !== 'undecryptable' && messageId !== null)
  }

  async #fetchFile({ instance, event }: InboxRow, { media }: Draft, attempt: Attempt, signal: AbortSignal) {
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

  #contentOf({ media, write }: Draft, { stage, file }: Attempt) {
    const { texts, mediaMaxBytes } = this.#deps
    if (stage === 'notice')
      return { content: write({ notice: texts.unreadable, instead: true }), files: [], isLate: false }
    if (!media) return { content: write(), files: [], isLate: false }
    const what = texts.media[media.media]
    if (stage === 'bare') return { content: write({ notice: texts.fileRefused(what) }), files: [], isLate: false }
    if (typeof file === 'object') return { content: write(), files: [file.upload], isLate: false }
    if (file === 'missing') return { content: write({ notice: texts.fileMissing(what) }), files: [], isLate: true }
    const notice = texts.fileTooLarge(what, `${Math.floor(mediaMaxBytes / 1024 / 1024)} MB`)
    return { content: write({ notice }), files: [], isLate: false }
  }

  /** The network's news of a group: what is remembered of it is out of date. */
  async #followGroup({ instance, event }: InboxRow, scene: Scene, destination: Destination): Promise<void> {
    if (event.kind !== 'group') return
    const subject = event.changes.find((change) => change.change === 'subject')
    if (!subject) return
    const { places, downstream } = this.#deps
    await places.rename({ ...scene.place, instance }, subject.subject, destination.key, downstream.inbox(destination))
  }

  async #settle(row: InboxRow, result: RealtimeResult): Promise<void> {
    await this.#deps.inbox.remove(this.#deps.epoch(), row.id)
    this.#deps.report.settled(row.instance, row.event.kind, result)
    this.#log(row, { result, ms: this.#deps.clock.now() - row.receivedAt })
  }

  async #afterFailure(
    row: InboxRow,
    destination: Destination | undefined,
    attempt: Attempt,
    error: unknown,
    signal: AbortSignal,
  ): Promise<Delivered | undefined> {
    const { report, clock, inboxTtlMs, holds, downstream, log, inbox, epoch } = this.#deps
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, maxReason)
    if (error instanceof DownstreamError && error.failure === 'unexplained') attempt.unexplained++
    const { failures, unexplained } = attempt
    const tries = { failures, unexplained, replaced: attempt.stage === 'notice', ageMs: clock.now() - row.receivedAt }
    const verdict = judgeFailure(error, tries, inboxTtlMs)
    attempt.failures++
    report.failed(row.instance, countedKind(row))
    log.warn(
      { err: error, instance: row.instance, kind: row.event.kind, act: verdict.act },
      'a message was not delivered',
    )
    if (verdict.act === 'hold' && destination) {
      holds.hold(destination.key, reason, () => downstream.inbox(destination).probe())
      return undefined
    }
    await this.#quietly(() => inbox.noteFailure(epoch(), row.id, reason))
    switch (verdict.act) {
      case 'park':
        return this.#park(row, reason, signal)
      case 'replace':
        attempt.stage = attempt.stage === 'whole' && isMedia(row) ? 'bare' : 'notice'
        return undefined
      case 'relocate':
        if (destination) await this.#relocate(row, destination, attempt)
        return undefined
      case 'retry':
        await sleep(clock, verdict.afterMs, signal)
        return undefined
      case 'hold':
        return undefined
    }
  }

  /** A conversation that is gone took what was posted there with it. */
  async #relocate({ instance, event }: InboxRow, destination: Destination, attempt: Attempt): Promise<void> {
    const { places, people } = this.#deps
    delete attempt.state.uncertain
    delete attempt.state.begun
    await this.#quietly(async () => {
      const { place } = await people.sceneOf(instance, event)
      await places.forget(place, destination.key)
    })
  }

  async #park(row: InboxRow, reason: string, signal: AbortSignal): Promise<Delivered> {
    const { inbox, epoch, report, log, clock } = this.#deps
    for (;;) {
      try {
        await inbox.park(epoch(), row.id, reason)
        break
      } catch (err) {
        if (signal.aborted) return 'stopped'
        log.error({ err, instance: row.instance }, 'a message could not be set aside yet')
        await sleep(clock, 1000, signal)
      }
    }
    report.settled(row.instance, row.event.kind, 'ds_error')
    log.error(
      { instance: row.instance, id: row.id, kind: row.event.kind, reason },
      'a message was set aside: see parked',
    )
    return 'parked'
  }

  #gateOf(destination: string): Gate {
    const known = this.#gates.get(destination)
    if (known) return known
    const gate = new Gate(postsAtOnce)
    this.#gates.set(destination, gate)
    return gate
  }

  /** For what is only for people to look at: a failure is logged and nothing else. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (err) {
      this.#deps.log.warn({ err }, 'a note about a delivery was not stored')
    }
  }

  #log({ instance, event }: InboxRow, facts: object): void {
    const { kind, fromMe, chat } = event
    const about = { instance, kind, content: event.kind === 'message' ? event.content.type : undefined }
    this.#deps.log.info({ ...about, from_me: fromMe, chat: chat.kind, ...facts }, 'message from the network handled')
  }
}

function isMedia({ event }: InboxRow): boolean {
  return event.kind === 'message' && event.content.type === 'media'
}

function countedKind(row: InboxRow): string {
  const { kind } = row.event
  if (isMedia(row)) return 'media'
  return kind === 'reaction' || kind === 'edit' || kind === 'revoke' ? kind : 'text'
}

/** Resolves with the promise, or as soon as the signal aborts. */
function settledOrAborted(promise: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    void Promise.resolve(promise).then(end)
    if (signal.aborted) end()
  })
}
