// The settings of the simulated installation. The defaults are those of a stock installation.

import type { SimClock } from '../shiftable-clock.ts'
import type { HelpdeskVersion } from './versions.ts'

export type Quirks = {
  /** The share of events that are delivered twice, each time with its own delivery id. */
  twice: number
  /** The share of message_created webhooks that arrive before the answer to the POST that caused them. */
  early: number
  /** The longest delay of an answer for the sake of an early webhook. */
  earlyHoldMs: number
  /** The share of message_created webhooks that are delayed, so that a message_updated may overtake them. */
  late: number
  lateMs: readonly [number, number]
  /** The share of Retries that send two message_updated webhooks: the old attributes first, then none. */
  retryTwice: number
  /** How long an event waits in the queue before the dispatcher builds its body. */
  delayMs: readonly [number, number]
  /** How long a worker needs to send a body. Callbacks that other workers send meanwhile overtake it. */
  workerMs: readonly [number, number]
  /** The share of callbacks whose worker stalls, and for how long. */
  stalls: number
  stallMs: readonly [number, number]
  /** How long after a bad answer the message is marked as failed. */
  failureMs: readonly [number, number]
  /** The share of audio messages whose extra message_updated comes before their message_created. */
  audioFirst: number
  /** The share of automation replies that come before the message that caused them. */
  automationFirst: number
  /** The share of messages whose attachments are listed in another order than that of their ids. */
  shuffledFiles: number
  /** How long after the commit the storage answers 404 for a new file. */
  fileDelayMs: readonly [number, number]
}

export const lifelike: Quirks = {
  twice: 0.05,
  early: 0.2,
  earlyHoldMs: 150,
  late: 0.05,
  lateMs: [50, 250],
  retryTwice: 1,
  delayMs: [5, 40],
  workerMs: [0, 20],
  stalls: 0.05,
  stallMs: [20, 80],
  failureMs: [60, 150],
  audioFirst: 0.5,
  automationFirst: 0.8,
  shuffledFiles: 0.5,
  fileDelayMs: [0, 800],
}

/** A Chatwoot whose workers are overloaded: every fourth callback or so comes after a later one, up to 0.4 s late. */
export const busy: Quirks = { ...lifelike, delayMs: [20, 60], workerMs: [5, 60], stalls: 0.25, stallMs: [20, 330] }

/** Every event arrives once and soon after the answer, and every file is there at once. */
export const calm: Quirks = {
  twice: 0,
  early: 0,
  earlyHoldMs: 150,
  late: 0,
  lateMs: [0, 0],
  retryTwice: 0,
  delayMs: [1, 1],
  workerMs: [0, 0],
  stalls: 0,
  stallMs: [0, 0],
  failureMs: [0, 0],
  audioFirst: 0,
  automationFirst: 0,
  shuffledFiles: 0,
  fileDelayMs: [0, 0],
}

export type Settings = {
  /** Decides what the installation can do: see versions.ts. */
  version: HelpdeskVersion
  /** True for builds with the enterprise folder, as the default images have it. */
  enterprise: boolean
  transcribeAudio: boolean
  /** False leaves the signature out, as versions before 4.13.0 do. */
  signWebhooks: boolean
  /** False keeps the editor's backslash before a line break, as versions before 4.13.0 do. */
  stripHardBreaks: boolean
  webhookTimeoutMs: number
  /** SAFE_FETCH_ALLOW_PRIVATE_NETWORK: false refuses webhooks to private addresses, as 4.14.0 does. */
  allowPrivateNetwork: boolean
  /** How many background jobs run at the same time. */
  jobThreads: number
  /** CONVERSATION_MESSAGE_PER_MINUTE_LIMIT */
  messagesPerMinute: number
  /** RATE_LIMIT_CONTACT_SEARCH */
  searchesPerMinute: number
  /** RACK_ATTACK_LIMIT. 0 switches it off, as for requests from the same machine. */
  requestsPerMinute: number
  /** True plays a proxy with underscores_in_headers off, which drops `api_access_token`. */
  dropUnderscoreHeaders: boolean
  maxBodyBytes: number
  /** FRONTEND_URL, the base of every attachment address. An empty value means the simulator's own address. */
  frontendUrl: string
  /** The place of files: another host with presigned addresses, or another address of Chatwoot. */
  storage: 's3' | 'disk'
  /**
   * How long a request that creates a contact, a conversation or an incoming message waits between its checks and its
   * commit. Parallel requests then race as in the real database. 0 handles one request at a time.
   */
  raceMs: number
  /** How long a merge of two contacts takes. What the other contact gets meanwhile is removed with it. */
  mergeMs: number
  /** False ignores unknown parameters as Chatwoot does. True refuses them, because they are mistakes of the client. */
  isStrict: boolean
  /** The account feature that hides contacts without phone and e-mail from the contact list. */
  crmV2: boolean
  quirks: Quirks
}

export const stockSettings: Settings = {
  version: '4.14',
  enterprise: true,
  transcribeAudio: false,
  signWebhooks: true,
  stripHardBreaks: true,
  webhookTimeoutMs: 5000,
  allowPrivateNetwork: true,
  jobThreads: 10,
  messagesPerMinute: 200,
  searchesPerMinute: 100,
  requestsPerMinute: 0,
  dropUnderscoreHeaders: false,
  maxBodyBytes: 512 * 1024 * 1024,
  frontendUrl: '',
  storage: 's3',
  raceMs: 0,
  mergeMs: 0,
  isStrict: true,
  crmV2: false,
  quirks: lifelike,
}

export type SimHelpdeskOptions = Partial<Settings> & {
  seed?: string
  /** 0 takes any free port. */
  port?: number
  clock?: SimClock
}
