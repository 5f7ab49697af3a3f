// Automation rules: a rule answers every incoming message of its helpdesk inbox. The answer has no sender.

import type { AutomationRow, InboxRow, MessageRow } from '../state/rows.ts'
import { createMessage } from './create-message.ts'
import type { Desk, MessageChange } from './desk.ts'

/** Dispatchers run at least once, the action of a rule once per message. */
const answered = new WeakSet<MessageRow>()

export function addAutomation(desk: Desk, inbox: InboxRow, content: string): AutomationRow {
  return desk.state.automations.insert((id) => ({ id, inbox, content }))
}

/** Returns how many answers the rules gave. */
export function runAutomations(desk: Desk, { event, message }: MessageChange): number {
  if (event !== 'message_created' || message.messageType !== 'incoming' || answered.has(message)) return 0
  const rules = desk.state.automations.all().filter(({ inbox }) => inbox === message.conversation.inbox)
  for (const { id, content } of rules) {
    answered.add(message)
    createMessage(desk, message.conversation, null, { content, contentAttributes: { automation_rule_id: id } })
  }
  return rules.length
}
