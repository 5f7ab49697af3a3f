// Says what a failed call to Chatwoot means: the kind of failure, and a sentence that tells the operator what to do.

import { DownstreamError } from '../core/downstream.ts'
import type { DownstreamFailure } from '../core/downstream.ts'
import type { AccountAccess } from '../core/helpdesk/helpdesk-account.ts'
import type { Answer } from '../lib/egress/egress.ts'
import { EgressError } from '../lib/egress/errors.ts'

/** What a call names in its path. A 404 is about it. */
export type Subject =
  | 'version'
  | 'profile'
  | 'account'
  /** The inbox of a destination: without it the destination takes nothing. */
  | 'inbox'
  | 'inbox of the account'
  | 'contact'
  | 'conversation'
  | 'message'
  | 'contact address'

/** The account that was asked, with the inbox that the call is about. */
export type Reached = AccountAccess & { inboxId?: number }

export type Asked = { method: string; about: Subject; destination: Reached }

/** Chatwoot answered, but not with success. */
export class Refusal extends DownstreamError {
  /** The fields a validation complains about; their names are the same in every language. */
  readonly attributes: readonly string[]

  constructor(
    failure: DownstreamFailure,
    reason: string,
    details: ConstructorParameters<typeof DownstreamError>[2],
    attributes: readonly string[],
  ) {
    super(failure, reason, details)
    this.attributes = attributes
  }
}

/** A file for the helpdesk could not be read. Chatwoot is not the cause. */
export class UploadUnreadable extends DownstreamError {}

/** Chatwoot answered with more than we read. */
export function isTooLarge(error: unknown): boolean {
  const cause = error instanceof DownstreamError ? error.cause : undefined
  return cause instanceof EgressError && cause.reason === 'too_large'
}

type Body = { sentence: string; attributes: string[] } | undefined
type Explanation = { failure: DownstreamFailure; reason: string; mayHaveHappened?: boolean }

export function explainAnswer(asked: Asked, answer: Answer, now: number): Refusal {
  const body = readBody(answer)
  const { status } = answer
  const { failure, reason, mayHaveHappened = false } = judge(asked, answer, body)
  const retryAfterMs = readRetryAfter(answer.headers['retry-after'], now)
  const isWrite = asked.method !== 'GET'
  const details = { status, retryAfterMs, mayHaveHappened: mayHaveHappened && isWrite }
  return new Refusal(failure, reason, details, body?.attributes ?? [])
}

function judge(asked: Asked, answer: Answer, body: Body): Explanation {
  const { status } = answer
  const where = originOf(asked.destination)
  if (status < 400) return { failure: 'destination', reason: redirected(where, answer), mayHaveHappened: true }
  if (status === 401) return { failure: 'destination', reason: unauthorized(asked.destination, body?.sentence ?? '') }
  if (status === 404) return notFound(asked, body, answer.body.length === 0)
  if (status === 422) return unprocessable(asked.destination, body)
  if (status === 429) return { failure: 'transient', reason: `${where} answered 429: too many requests` }
  if (status === 400 || status === 413) return { failure: 'permanent', reason: tooMuch(where, status) }
  if (status === 408 || status >= 500) {
    return { failure: 'transient', reason: `${where} answered ${status}`, mayHaveHappened: true }
  }
  const known = body ? `: ${body.sentence}` : ''
  return { failure: 'destination', reason: `${where} answered ${status}${known}` }
}

function notFound({ about, method, destination }: Asked, body: Body, isEmpty: boolean): Explanation {
  const { accountId, inboxId } = destination
  const where = originOf(destination)
  const gone = { failure: 'gone', reason: `the ${about} does not exist, or not any more, at ${where}` } as const
  if (about === 'contact address' && isEmpty) return gone
  if (about === 'message' && method === 'PATCH' && !body) {
    return { failure: 'permanent', reason: `${where} is older than Chatwoot 4.2 and knows no states of messages` }
  }
  // A proxy without a backend answers 404 too, but without the JSON of Chatwoot. A Chatwoot always has a version and a profile.
  if (!body || about === 'version' || about === 'profile') {
    return { failure: 'destination', reason: `${where} answered 404 and is not, or not now, a Chatwoot: check its URL` }
  }
  if (about !== 'inbox' && about !== 'contact address' && about !== 'account') return gone
  const orInbox = inboxId === undefined ? '' : `, or no inbox ${inboxId} in it,`
  return { failure: 'destination', reason: `there is no account ${accountId}${orInbox} at ${where}` }
}

function unprocessable(destination: Reached, body: Body): Explanation {
  const where = originOf(destination)
  const sentence = body?.sentence ?? ''
  if (sentence.includes('Too many messages')) {
    return { failure: 'flood', reason: `${where} takes no more messages in this conversation within a minute` }
  }
  if (sentence.includes('only allowed in Api inboxes')) {
    return { failure: 'destination', reason: otherKind(destination) }
  }
  if (sentence.includes('too long')) return { failure: 'permanent', reason: `${where} answered 422: ${sentence}` }
  return { failure: 'unexplained', reason: `${where} answered 422${sentence === '' ? '' : `: ${sentence}`}` }
}

/** The helpdesk took a message and dropped its source id. */
export function tooOldVersion(destination: Reached): DownstreamError {
  const reason = `${originOf(destination)} is older than Chatwoot 3.4 and drops the ids of messages: update it`
  return new DownstreamError('destination', reason)
}

/** Messages of a person can be posted only into an API inbox. */
export function wrongKindOfInbox(destination: Reached): DownstreamError {
  return new DownstreamError('destination', otherKind(destination))
}

function otherKind(destination: Reached): string {
  const { inboxId = 0 } = destination
  return `inbox ${inboxId} at ${originOf(destination)} is no API inbox: set the id of one (DOWNSTREAM_INBOX_ID, or that of the tenant or instance)`
}

function unauthorized({ baseUrl, accountId, inboxId }: Reached, sentence: string): string {
  const where = new URL(baseUrl).origin
  if (sentence.includes('suspended')) return `account ${accountId} at ${where} is suspended`
  if (sentence.includes('bots')) {
    return `the API token for ${where} belongs to an agent bot: set the token of an administrator`
  }
  if (sentence.includes('access this account')) {
    return `the owner of the API token for ${where} does not belong to account ${accountId}`
  }
  if (sentence.includes('this action') && inboxId === undefined) {
    return `the owner of the API token for ${where} is no administrator of account ${accountId}: set the token of one`
  }
  if (sentence.includes('this action')) {
    return `the owner of the API token for ${where} may not use inbox ${inboxId}: make him an administrator`
  }
  return `${where} does not accept the API token: set a valid one (DOWNSTREAM_API_TOKEN, or that of the tenant)`
}

function tooMuch(where: string, status: number): string {
  const advice = status === 413 ? ': raise the body limit of the proxy in front of it for larger files' : ''
  return `${where} answered ${status}${advice}`
}

function redirected(where: string, { headers, status }: Answer): string {
  const target = [headers['location']].flat()[0] ?? ''
  const origin = URL.canParse(target, where) ? new URL(target, where).origin : ''
  if (status >= 300 && origin !== '' && origin !== where) {
    return `${where} redirects to ${origin}: set that as the base URL`
  }
  return `${where} answered ${status} with something else than a Chatwoot does: check its URL`
}

/** The answer says success, but does not have the form of Chatwoot's answers. */
export function strangeAnswer({ method, destination }: Asked, answer: Answer): DownstreamError {
  const { status } = answer
  return new DownstreamError('destination', redirected(originOf(destination), answer), {
    status,
    mayHaveHappened: method !== 'GET',
  })
}

/** No answer came. */
export function explainSilence({ method, destination }: Asked, error: EgressError): DownstreamError {
  const mayHaveHappened = error.outcome === 'unknown' && method !== 'GET'
  const details = { mayHaveHappened, cause: error, status: error.status ?? null }
  if (error.reason === 'body_failed') {
    return new UploadUnreadable('transient', 'a file for the helpdesk could not be read', { cause: error.cause })
  }
  if (error.reason === 'unreachable' || error.reason === 'refused') {
    return new DownstreamError('destination', error.message, details)
  }
  const reason = error.reason === 'timeout' ? `${originOf(destination)} did not answer in time` : error.message
  return new DownstreamError('transient', reason, details)
}

function originOf({ baseUrl }: Reached): string {
  return new URL(baseUrl).origin
}

/** Undefined when the body does not come from Chatwoot. */
function readBody(answer: Answer): Body {
  try {
    const json = answer.json() as { error?: unknown; errors?: unknown; message?: unknown; attributes?: unknown } | null
    const sentence = [json?.error, json?.message, json?.errors].flat().find((each) => typeof each === 'string')
    if (sentence === undefined) return undefined
    const attributes = [json?.attributes].flat().filter((each) => typeof each === 'string')
    return { sentence: withoutContent(sentence), attributes }
  } catch {
    return undefined
  }
}

/** Removes quoted text and long numbers: they may be content of a message. */
function withoutContent(sentence: string): string {
  return sentence
    .replace(/(["'`]).*?\1/gs, '…')
    .replace(/\d{7,}/g, '…')
    .replaceAll('\0', '')
    .slice(0, 200)
}

function readRetryAfter(header: string | string[] | undefined, now: number): number | null {
  const text = [header].flat()[0] ?? ''
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
