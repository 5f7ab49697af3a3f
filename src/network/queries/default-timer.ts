// Asks the server with which timer of disappearing messages the account begins new chats.

import { timerSeconds } from '../../core/chat-timer.ts'
import type { Jid } from '../../core/ids.ts'
import { askAboutUsers } from './user-sync.ts'
import type { Ask } from './user-sync.ts'

/** `setAt` is in unix seconds. */
export type DefaultTimer = { seconds: number; setAt: number }

const tag = 'disappearing_mode'

/** Rejects also when the server answers without a timer: an account without a default has the duration 0. */
export async function askDefaultTimer(ask: Ask, ownJid: Jid): Promise<DefaultTimer> {
  const users = [{ tag: 'user', attrs: { jid: ownJid } }]
  const [answer] = await askAboutUsers(ask, { context: 'interactive', about: [{ tag, attrs: {} }], users })
  const { duration, t } = answer?.about.get(tag)?.attrs ?? {}
  if (duration === undefined) throw new Error('the server does not tell the default timer')
  return { seconds: timerSeconds(Number(duration)) ?? 0, setAt: Number(t ?? 0) || 0 }
}
