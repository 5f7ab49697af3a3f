// How late each event is dispatched and each callback is posted. Every choice comes from the seed.

import type { Desk, HelpdeskEvent, MessageChange } from '../desk/desk.ts'

/** Long enough for another callback to be delivered first. */
const headStartMs = 50

export function eventDelay(desk: Desk, event: HelpdeskEvent, number: number): number {
  const { choices, settings } = desk
  const { quirks } = settings
  const delay = choices.between(quirks.delayMs, 'delay', number)
  if (event.event !== 'message_created') return delay
  if (isOvertakenByAudio(desk, event)) return delay + overtakenMs(desk)
  const isLate = choices.chance(quirks.late, 'late', number)
  return isLate ? delay + choices.between(quirks.lateMs, 'late by', number) : delay
}

/** The time that a worker takes before the request leaves. It depends on the event, not on the order of the posts. */
export function postDelay({ choices, settings }: Pick<Desk, 'choices' | 'settings'>, event: number): number {
  const { workerMs, stalls, stallMs } = settings.quirks
  const stalled = choices.chance(stalls, 'stalls', event) ? choices.between(stallMs, 'stalled', event) : 0
  return choices.between(workerMs, 'worker', event) + stalled
}

/** A callback that waits for this time comes after one that was caused at the same moment. */
export function overtakenMs({ settings }: Desk): number {
  const { delayMs, workerMs } = settings.quirks
  return delayMs[1] + workerMs[1] + headStartMs
}

export function isOvertakenByReply({ choices, settings }: Desk, event: HelpdeskEvent): boolean {
  return 'message' in event && choices.chance(settings.quirks.automationFirst, 'automation', event.message.id)
}

/** The update of an audio file and the creation of its message are two events of the same commit. */
function isOvertakenByAudio(desk: Desk, { message }: MessageChange): boolean {
  const { choices, features, settings } = desk
  const { id, attachments } = message
  const isUpdated = features.audioUpdate && attachments.some(({ fileType }) => fileType === 'audio')
  return isUpdated && choices.chance(settings.quirks.audioFirst, 'audio', id)
}

/** A bot that answers 429 or 500 is called three times. Undefined: no further call follows. */
export function botRetryMs(reason: string, tries: number): number | undefined {
  return /^(?:429|500)\b/.test(reason) ? [4_000, 6_000][tries] : undefined
}
