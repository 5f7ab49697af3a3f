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

/** A value as the API and the database write it. */
export type OwnValue = boolean | string | readonly string[]

/** What an instance has of its own, by the names of the API. A setting that is missing is that of the service. */
export type OwnSettings = Readonly<Record<string, OwnValue>>

/** What a request changes of it. Null: the setting of the service counts again. */
export type OwnSettingsChange = Readonly<Record<string, OwnValue | null>>

/** The JSON schema of a value. */
export type ValueSchema =
  | { type: 'boolean' }
  | { type: 'string'; enum?: readonly string[]; maxLength?: number }
  | { type: 'array'; items: { type: 'string'; maxLength: number }; maxItems: number }

/** What the API has to know of a setting that an instance can have of its own. */
export type OwnSettingRule = {
  /** Its name in the API. */
  field: string
  /** The variable that sets it for the service. */
  variable: string
  doc: string
  schema: ValueSchema
  /** What a valid value looks like, completing the sentence "takes …". */
  takes: string
  /** The value as it is stored; undefined when it is none. */
  parse: (value: unknown) => OwnValue | undefined
}

export function changeOwnSettings(own: OwnSettings, change: OwnSettingsChange): OwnSettings {
  const changed = Object.entries({ ...own, ...change })
  return Object.fromEntries(changed.filter((entry): entry is [string, OwnValue] => entry[1] !== null))
}
