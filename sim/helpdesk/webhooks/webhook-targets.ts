// The addresses that get an event, the headers of each delivery, and the check whether the event still has its record.

import type { Desk, HelpdeskEvent } from '../desk/desk.ts'
import type { AccountRow, InboxRow } from '../state/rows.ts'
import { signatureHeaders } from './webhook-signature.ts'

export type Target = { kind: 'inbox' | 'account' | 'bot'; url: string; secret: string }

/** What the bot of a helpdesk inbox is told of. It is not told of a new conversation and of typing. */
const botEvents: ReadonlySet<HelpdeskEvent['event']> = new Set([
  'message_created',
  'message_updated',
  'conversation_updated',
  'conversation_status_changed',
])

export function targetsOf({ state }: Desk, event: HelpdeskEvent): Target[] {
  const { account, inbox } = placeOf(event)
  const targets: Target[] = []
  if (inbox?.channel.webhookUrl) {
    targets.push({ kind: 'inbox', url: inbox.channel.webhookUrl, secret: inbox.channel.secret })
  }
  const bot = inbox?.agentBot
  if (bot?.outgoingUrl && botEvents.has(event.event)) {
    targets.push({ kind: 'bot', url: bot.outgoingUrl, secret: bot.secret })
  }
  for (const hook of state.accountWebhooks.all()) {
    if (hook.account !== account || !hook.subscriptions.includes(event.event)) continue
    targets.push({ kind: 'account', url: hook.url, secret: hook.secret })
  }
  return targets
}

export function headersFor(
  { clock, features }: Desk,
  { kind, secret }: Target,
  text: string,
  deliveryId: string,
): Record<string, string> {
  const isSigned = kind === 'account' ? features.signedAccountWebhooks : features.signedWebhooks
  return {
    ...(features.deliveryHeader ? { 'X-Chatwoot-Delivery': deliveryId } : {}),
    ...(isSigned ? signatureHeaders(secret, text, clock.now()) : {}),
  }
}

/** Typing is told since 4.2. Events about contacts are told only to account webhooks. */
export function isHeard({ features, state }: Desk, event: HelpdeskEvent): boolean {
  if (event.event.startsWith('conversation_typing')) return features.typingWebhooks
  return !('contact' in event) || state.accountWebhooks.all().length > 0
}

/** Chatwoot silently discards a job whose record is gone. */
export function isGone({ state }: Desk, event: HelpdeskEvent): boolean {
  if ('message' in event) return state.messages.get(event.message.id) !== event.message
  if ('conversation' in event) return state.conversations.get(event.conversation.id) !== event.conversation
  return state.contacts.get(event.contact.id) !== event.contact
}

function placeOf(event: HelpdeskEvent): { account: AccountRow; inbox?: InboxRow } {
  if ('contact' in event) return { account: event.contact.account }
  return 'message' in event ? event.message.conversation : event.conversation
}
