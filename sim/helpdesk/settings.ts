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
  /** The share of Retries that send two message_updated webhooks instead of one. */
  retryTwice: number
  /** How long an event waits in the queues before its delivery. */
  delayMs: readonly [number, number]
  /** How long after the commit the storage answers 404 for a new file. */
  fileDelayMs: readonly [number, number]
}

export const lifelike: Quirks = {
  twice: 0.05,
  early: 0.2,
  earlyHoldMs: 150,
  late: 0.05,
  lateMs: [50, 250],
  retryTwice: 0.5,
  delayMs: [5, 40],
  fileDelayMs: [0, 800],
}

/** Every event arrives once and soon after the answer, and every file is there at once. */
export const calm: Quirks = {
  twice: 0,
  early: 0,
  earlyHoldMs: 150,
  late: 0,
  lateMs: [0, 0],
  retryTwice: 0,
  delayMs: [1, 1],
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
  crmV2: false,
  quirks: lifelike,
}

export type SimHelpdeskOptions = Partial<Settings> & {
  seed?: string
  /** 0 takes any free port. */
  port?: number
  clock?: SimClock
}
