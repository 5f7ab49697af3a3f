// What a test may set about the simulated installation, with the values of a stock one.

import type { SimClock } from '../shiftable-clock.ts'

export type Quirks = {
  /** How often an event is delivered a second time, with a delivery id of its own. */
  twice: number
  /** How often message_created reaches the bridge before the POST that caused it is answered. */
  early: number
  /** How long the answer is held back at most for the sake of an early webhook. */
  earlyHoldMs: number
  /** How often message_created is held back, so that a message_updated may overtake it. */
  late: number
  lateMs: readonly [number, number]
  /** How often a Retry brings two message_updated instead of one. */
  retryTwice: number
  /** How long an event waits in the queues before it is delivered. */
  delayMs: readonly [number, number]
  /** How long after the commit a file can be downloaded: until then the storage answers 404. */
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

/** Every event once, soon after the answer; every file at once. */
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
  version: string
  /** Builds with the enterprise folder, the default images, send one more message_updated per audio file. */
  enterprise: boolean
  transcribeAudio: boolean
  /** False for versions before 4.13.0, which sign nothing. */
  signWebhooks: boolean
  /** False for versions before 4.13.0, whose webhooks keep the editor's backslash before a line break. */
  stripHardBreaks: boolean
  webhookTimeoutMs: number
  /** SAFE_FETCH_ALLOW_PRIVATE_NETWORK: false refuses webhooks to private addresses, as 4.14.0 does. */
  allowPrivateNetwork: boolean
  /** How many background jobs run at a time. */
  jobThreads: number
  /** CONVERSATION_MESSAGE_PER_MINUTE_LIMIT */
  messagesPerMinute: number
  /** RATE_LIMIT_CONTACT_SEARCH */
  searchesPerMinute: number
  /** RACK_ATTACK_LIMIT; 0 = off, as for requests from the same machine. */
  requestsPerMinute: number
  /** A proxy with underscores_in_headers off drops `api_access_token`. */
  dropUnderscoreHeaders: boolean
  maxBodyBytes: number
  /** FRONTEND_URL, the base of every attachment address; empty = the address the simulator listens on. */
  frontendUrl: string
  /** Where files lie: on another host behind a presigned address, or at another Chatwoot address. */
  storage: 's3' | 'disk'
  /** The account feature that hides contacts without phone and e-mail from the contact list. */
  crmV2: boolean
  quirks: Quirks
}

export const stockSettings: Settings = {
  version: '4.14.1',
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
  /** 0 = any free port. */
  port?: number
  clock?: SimClock
}
