// What is kept between the attempts to deliver one inbox row.

import type { ChatId, DestinationKey } from '../../core/ids.ts'
import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { EventDraft } from './compose/event-draft.ts'
import type { PostState } from '../posting/exactly-once-poster.ts'
import { isRefusal, isUnexplained } from './failure-policy.ts'
import type { Tries } from './failure-policy.ts'
import type { FetchedMedia } from './files/file-fetcher.ts'

/** whole: as it was sent · bare: without the file that was refused · notice: only a sentence that there was a message */
type Stage = 'whole' | 'bare' | 'notice'

export type DeliveryProgress = {
  /** The destination that `state` belongs to. */
  destination: DestinationKey | null
  state: PostState
  stage: Stage
  failures: number
  unexplained: number
  relocations: number
  refusals: number
  /** A probe found the destination working since the last failure. */
  hasProbed: boolean
  /** As which step a failure is counted. */
  doing: EventDraft['counted'] | 'contact' | 'conversation'
  /** The chat as of the last attempt. */
  chatId?: ChatId
  /** The helpdesk took the message, and must not get another one: why. */
  flaw?: string
  file?: FetchedMedia | 'missing' | 'too_large'
}

export function newProgress(row: InboxRow): DeliveryProgress {
  return {
    destination: null,
    state: {},
    stage: 'whole',
    failures: 0,
    unexplained: 0,
    relocations: 0,
    refusals: 0,
    hasProbed: false,
    doing: isMedia(row) ? 'media' : 'text',
  }
}

/** Counts the failure. Returns what it amounts to together with the failures before it. */
export function countFailure(progress: DeliveryProgress, error: unknown, ageMs: number): Tries {
  const wasRefused = isRefusal(error)
  if (isUnexplained(error)) progress.unexplained++
  if (wasRefused && progress.hasProbed) progress.refusals++
  progress.hasProbed = false
  const { unexplained, relocations, stage } = progress
  const refusals = wasRefused ? progress.refusals : 0
  return { failures: progress.failures++, unexplained, relocations, refusals, replaced: stage === 'notice', ageMs }
}

/** The next attempt posts less: first without the file, then only a notice. */
export function reduce(progress: DeliveryProgress, row: InboxRow): void {
  progress.stage = progress.stage === 'whole' && isMedia(row) ? 'bare' : 'notice'
}

/** The conversation is gone, and with it every message that a POST may have left there. */
export function forgetPosting(progress: DeliveryProgress): void {
  progress.relocations++
  delete progress.state.uncertain
  delete progress.state.begun
}

export async function dropFile(progress: DeliveryProgress): Promise<void> {
  const { file } = progress
  if (typeof file !== 'object') return
  delete progress.file
  await file[Symbol.asyncDispose]()
}

function isMedia({ event }: InboxRow): boolean {
  return event.kind === 'message' && event.content.type === 'media'
}
