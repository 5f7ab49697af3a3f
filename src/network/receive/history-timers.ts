// Learns the timers of chats from the history that the phone sends to a new companion.

import { timerSeconds } from '../../core/chat-timer.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import { personOf } from '../decode/origin.ts'
import { numberOf } from '../decode/values.ts'
import type { Chat, WASocket } from '../library/library.ts'

export function learnTimersFromHistory({ ev }: WASocket, { timers }: Pick<Account, 'timers'>): void {
  ev.on('messaging-history.set', ({ chats }) => {
    for (const chat of chats) {
      const noted = timerIn(chat)
      // If the connection ends meanwhile, the messages of the chat still tell the timer.
      if (noted) timers.note(noted.person, noted.timer).catch(ignoreRejection)
    }
  })
}

function timerIn({ id, ephemeralExpiration, ephemeralSettingTimestamp }: Chat) {
  const person = personOf(id)
  const seconds = timerSeconds(ephemeralExpiration) ?? 0
  if (!person || seconds === 0) return undefined
  const setAt = numberOf(ephemeralSettingTimestamp) ?? 0
  return { person, timer: { seconds, setAt, toldAt: setAt, by: 'chat' as const } }
}
