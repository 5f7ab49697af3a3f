// Adds to the events of a message what it says about the timer of its chat.

import type { ToldTimer } from '../../core/chat-timer.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { ChatTimers } from '../account/chat-timers.ts'

/**
 * Inside a step. A message that changes the timer is followed by a notice. A setting is a notice itself, and it is left out
 * when it changes nothing. The members of a group learn the timer from the server, not from each other's messages.
 */
export async function withTimerChange(
  event: NetworkEvent,
  told: ToldTimer | undefined,
  timers: Pick<ChatTimers, 'learn'>,
): Promise<NetworkEvent[]> {
  if (!told || event.chat.kind === 'group') return [event]
  const isChange = await timers.learn(event.chat, told)
  if (told.isSetting) return isChange ? [event] : []
  return isChange ? [event, noticeOf(event, told)] : [event]
}

/** The message shows that the timer is another one. It does not say by whom it was set. */
function noticeOf({ id, at, chat, sender, fromMe, pushName }: NetworkEvent, { seconds }: ToldTimer): NetworkEvent {
  const changes = [{ change: 'ephemeral' as const, seconds, isFound: true as const }]
  return { id: `${id}-timer`, at, chat, sender, fromMe, pushName, kind: 'group', changes }
}
