// The parts that every action of the simulated Chatwoot uses: rows, clock, seeded choices, settings and events.

import type { SeededChoices } from '../seeded-choices.ts'
import type { Settings } from '../settings.ts'
import type { Features } from '../versions.ts'
import type { SimClock } from '../../shiftable-clock.ts'
import type { HelpdeskState } from '../state/helpdesk-state.ts'
import type { Attributes, ContactRow, ConversationRow, MessageRow, Sender } from '../state/rows.ts'

export type ChangedAttribute = Record<string, { previous_value: unknown; current_value: unknown }>

export type MessageChange = {
  event: 'message_created' | 'message_updated'
  message: MessageRow
  /** The attributes of the event's moment. Without them the webhook shows those of its own moment. */
  contentAttributes?: Attributes
}

export type HelpdeskEvent =
  | MessageChange
  | { event: 'conversation_created' | 'conversation_status_changed'; conversation: ConversationRow }
  | { event: 'conversation_updated'; conversation: ConversationRow; changed: ChangedAttribute[] }
  | {
      event: 'conversation_typing_on' | 'conversation_typing_off'
      conversation: ConversationRow
      typist: Sender
      isPrivate: boolean
    }
  | { event: 'contact_created'; contact: ContactRow }
  | { event: 'contact_updated'; contact: ContactRow; changed?: ChangedAttribute[] }

export type Desk = {
  state: HelpdeskState
  readonly clock: SimClock
  readonly choices: SeededChoices
  settings: Settings
  /** What the version can do, with the settings of this moment. */
  readonly features: Features
  /** Passes the event to the background jobs and returns at once. */
  emit(event: HelpdeskEvent): void
  /** Runs the work as a background job. */
  later(work: () => void): void
}
