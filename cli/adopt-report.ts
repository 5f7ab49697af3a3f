// Says in sentences what a take-over found or did.

import { CliError, exitCodes } from './cli-error.ts'

/** The result of a job of the type `adopt`, as the service shows it. */
export type Adopted = {
  [Count in (typeof counts)[number]]: number
} & { lastWrittenAt: number | null }

const counts = [
  ...['scanned', 'adopted', 'unchanged', 'own', 'unmarked', 'unknown', 'doubled', 'errors'],
  ...['conversations', 'messages'],
] as const

const minuteMs = 60_000
/** A bridge that wrote so recently may still be linked. */
const recentMs = 60 * minuteMs

export function readAdopted(value: unknown): Adopted {
  const body = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const numbers = counts.map((name) => [name, body[name]] as const)
  if (numbers.some(([, count]) => typeof count !== 'number')) {
    throw new CliError('The service did not say what it found: is it of the same version?', exitCodes.unasked)
  }
  const at = Date.parse(String(body['last_written_at']))
  return { ...(Object.fromEntries(numbers) as Adopted), lastWrittenAt: Number.isNaN(at) ? null : at }
}

/** What a dry run found. */
export function describeFound(from: string, found: Adopted): string[] {
  const skipped = [
    [found.own, `made by ${from} for itself: left alone`],
    [found.unmarked, `not made by ${from}: a message of such a customer finds the contact by its phone number`],
    [found.doubled, 'of a person or group that has another contact: the repair of contacts can merge them'],
    [found.unknown, 'of a channel, a list or the status: left alone'],
    [found.errors, 'refused by Chatwoot: the log of the service says why'],
  ] as const
  return [
    `The inbox has ${countOf(found.scanned, 'contact')} with a conversation.`,
    `  ${found.adopted} can be taken over, ${found.unchanged} ${found.unchanged === 1 ? 'is' : 'are'} taken over already.`,
    `  The next message of a chat goes into a conversation that exists: ${countOf(found.conversations, 'conversation')}.`,
    `  Older messages that can be quoted then: ${found.messages}.`,
    ...skipped.flatMap(([count, what]) => (count > 0 ? [`  ${countOf(count, 'contact')} ${what}.`] : [])),
  ]
}

/** What the job did. */
export function describeDone(done: Adopted): string {
  const { adopted, conversations, messages, errors } = done
  const mark = errors === 0 ? '✓' : '✗'
  const refused =
    errors === 0 ? '' : ` Chatwoot refused ${countOf(errors, 'contact')}: the log of the service says why.`
  const taken = `${countOf(adopted, 'contact')} taken over, ${countOf(conversations, 'conversation')} in use`
  return `${mark} ${taken}, ${countOf(messages, 'older message')} known.${refused}`
}

/** A warning if the other bridge seems to be linked still. */
export function warnOfWriter(from: string, { lastWrittenAt }: Adopted, now: number): string | undefined {
  if (lastWrittenAt === null || now - lastWrittenAt > recentMs) return undefined
  const minutes = Math.max(0, Math.round((now - lastWrittenAt) / minuteMs))
  return `! ${from} wrote into the inbox ${countOf(minutes, 'minute')} ago. Unlink its device first: otherwise every message comes twice.`
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
