// The settings that an instance can have of its own. Where it has none, the setting of the service counts.

import type { InstanceName } from './ids.ts'
import type { Locale } from './reasons/sentences.ts'

export type QuoteStyle = 'both' | 'bubble' | 'text'

export type ChosenSettings = {
  /** What a message does when the last conversation is resolved. */
  conversationMode: 'new' | 'reopen'
  newConversationStatus: 'open' | 'pending'
  ignoreJids: readonly string[]
  headerTemplate: string
  quoteStyle: QuoteStyle
  locale: Locale
  signMessages: boolean
  rejectCalls: boolean
}

/** The settings that count for an instance. */
export type SettingsOf = (instance: InstanceName) => ChosenSettings
