// Derives the ids of a trace from its message, so that the steps of a message meet in one trace also after a restart.

import { createHash, randomBytes } from 'node:crypto'
import type { TraceSubject } from '../core/trace/traces.ts'

/** The first step of an event or a message has the id `firstId`. */
export type TraceIds = { traceId: string; firstId: string }

export function traceIdsOf(subject: TraceSubject): TraceIds {
  const parts = partsOf(subject)
  const ofMessage = hashOf(parts)
  // A notice that a message cannot be decrypted yet has the id of the message, and each of them has a first step of its own.
  const isNotice = subject.of === 'network' && subject.kind !== 'message'
  const ofFirst = isNotice ? hashOf([...parts, subject.kind]) : ofMessage
  return { traceId: ofMessage.slice(0, 32), firstId: ofFirst.slice(32, 48) }
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/** Whether a trace is among the share that is recorded. The id decides, so all processes decide alike. */
export function isSampled({ traceId }: TraceIds, share: number): boolean {
  return Number.parseInt(traceId.slice(0, 8), 16) < share * 2 ** 32
}

function hashOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function partsOf(subject: TraceSubject): readonly (string | number)[] {
  switch (subject.of) {
    case 'network':
      return [subject.of, subject.instance, subject.id]
    case 'helpdesk':
      return [subject.of, subject.destination, subject.id]
    case 'outbox':
      return [subject.of, subject.id]
  }
}
