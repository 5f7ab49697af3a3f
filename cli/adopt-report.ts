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
    [found.own, `of ${from} itself are left alone`],
    [found.unmarked, `were not made by ${from}; their phone numbers are enough to find them later`],
    [found.doubled, 'stand for somebody who has another contact; the repair of contacts can merge them'],
    [found.unknown, 'stand for nobody who can be written to'],
    [found.errors, 'were refused by Chatwoot; the log of the service says why'],
  ] as const
  return [
    `${contactsOf(found.scanned)} of the inbox ${found.scanned === 1 ? 'has' : 'have'} a conversation.`,
    `  ${found.adopted} can be taken over, ${found.unchanged} ${found.unchanged === 1 ? 'is' : 'are'} taken over already.`,
    `  ${found.conversations} conversations will get the next message of their chat.`,
    `  ${found.messages} older messages can be quoted then.`,
    ...skipped.flatMap(([count, what]) => (count > 0 ? [`  ${count} ${what}.`] : [])),
  ]
}

/** What the job did. */
export function describeDone(done: Adopted): string {
  const { adopted, conversations, messages, errors } = done
  const mark = errors === 0 ? '✓' : '✗'
  const refused = errors === 0 ? '' : ` ${errors} were refused by Chatwoot: the log of the service says why.`
  return `${mark} ${contactsOf(adopted)} taken over, ${conversations} conversations in use, ${messages} older messages known.${refused}`
}

/** A warning if the other bridge seems to be linked still. */
export function warnOfWriter(from: string, { lastWrittenAt }: Adopted, now: number): string | undefined {
  if (lastWrittenAt === null || now - lastWrittenAt > recentMs) return undefined
  const minutes = Math.max(0, Math.round((now - lastWrittenAt) / minuteMs))
  return `! ${from} wrote into the inbox ${minutes} minutes ago. Unlink its device first: otherwise every message comes twice.`
}

function contactsOf(count: number): string {
  return count === 1 ? '1 contact' : `${count} contacts`
}
