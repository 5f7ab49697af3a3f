// Answers an agent who asks for the members of a group in a private note. The answer is a private note, too.
//
// The source id of the answer is made of the id of the question. Before an answer is posted, it is looked for: a callback that
// comes twice, also after a restart, has one answer.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Destination, DownstreamLimits, HelpdeskInbox } from '../../core/downstream.ts'
import { DownstreamError } from '../../core/downstream.ts'
import { GroupError } from '../../core/group-administration.ts'
import type { MembersQuestion } from '../../core/group-administration.ts'
import { orAbort } from '../../lib/abort.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { SingleFlight } from '../../lib/queues/single-flight.ts'
import type { People } from '../people/people.ts'
import type { GroupSessionOf } from './group-session.ts'
import { groupTexts } from './group-texts.ts'
import { writeMemberList } from './member-list.ts'
import { nameMembers } from './named-members.ts'

type Deps = {
  sessionOf: GroupSessionOf
  people: Pick<People, 'lookUpAll'>
  helpdeskOf: (destination: Destination) => Pick<HelpdeskInbox, 'findPosted' | 'post'>
  limits: Pick<DownstreamLimits, 'safeLength' | 'lateCommitMs'>
  settingsOf: SettingsOf
  clock: Clock
  log: Log
}

export class MemberNotes {
  readonly #deps: Deps
  readonly #answering = new SingleFlight()
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Answers in the background. */
  asked(question: MembersQuestion): void {
    const { instance, destination, noteId } = question
    const running = this.#answering
      .run(`${destination.key}|${noteId}`, () => this.#answer(question))
      .catch((err: unknown) => {
        this.#deps.log.warn({ err, instance }, 'the members of a group could not be listed for an agent')
      })
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }

  async #answer(question: MembersQuestion): Promise<void> {
    const notes = await this.#notesFor(question)
    for (const [index, content] of notes.entries()) {
      await this.#post(question, `members-${question.noteId}-${index + 1}`, content)
    }
  }

  async #notesFor({ instance, groupId }: MembersQuestion): Promise<string[]> {
    const { sessionOf, people, settingsOf, limits } = this.#deps
    const { locale } = settingsOf(instance)
    const { noMembers } = groupTexts[locale]
    const session = sessionOf(instance)
    if (!session) return [noMembers.not_ready]
    try {
      const { members } = await orAbort(session.groups.details(groupId), this.#stop.signal)
      return writeMemberList(await nameMembers(people, instance, members), locale, limits.safeLength)
    } catch (error) {
      if (!(error instanceof GroupError)) throw error
      return [noMembers[error.failure]]
    }
  }

  /** A request whose answer was lost may still be carried out, so the next attempt comes after that time. */
  async #post({ destination, conversationId, noteId }: MembersQuestion, sourceId: string, content: string) {
    const { helpdeskOf, limits, clock } = this.#deps
    const { signal } = this.#stop
    const helpdesk = helpdeskOf(destination)
    const pauses = [limits.lateCommitMs, 3 * limits.lateCommitMs, 9 * limits.lateCommitMs]
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        if (await helpdesk.findPosted(conversationId, sourceId, noteId)) return
        await helpdesk.post(conversationId, noteOf(sourceId, content, noteId))
        return
      } catch (error) {
        const pause = pauses[attempt]
        if (pause === undefined || isLasting(error)) throw error
        await sleep(clock, pause, signal)
      }
    }
  }
}

function noteOf(sourceId: string, content: string, inReplyTo: number) {
  return { type: 'outgoing', private: true, content, sourceId, inReplyTo, isEcho: false, files: [] } as const
}

function isLasting(error: unknown): boolean {
  return !(error instanceof DownstreamError) || error.failure === 'permanent' || error.failure === 'gone'
}
