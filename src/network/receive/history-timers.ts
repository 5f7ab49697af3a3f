// Learns from the history that the phone sends to a new companion which chats exist, and their timers.

import type { Person } from '../../core/address.ts'
import { timerSeconds } from '../../core/chat-timer.ts'
import type { Timer } from '../../core/chat-timer.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import { personOf } from '../decode/origin.ts'
import { numberOf } from '../decode/values.ts'
import type { Chat, WASocket } from '../library/library.ts'

export function learnTimersFromHistory({ ev }: WASocket, { timers }: Pick<Account, 'timers'>): void {
  ev.on('messaging-history.set', ({ chats }) => {
    const old: Person[] = []
    for (const chat of chats) {
      const person = personOf(chat.id)
      const timer = timerIn(chat)
      // If the connection ends meanwhile, the messages of the chat still tell the timer.
      if (person && timer.seconds > 0) timers.note(person, timer).catch(ignoreRejection)
      else if (person) old.push(person)
    }
    timers.noteOld(old).catch(ignoreRejection)
  })
}

function timerIn({ ephemeralExpiration, ephemeralSettingTimestamp }: Chat): Timer {
  const seconds = timerSeconds(ephemeralExpiration) ?? 0
  const setAt = numberOf(ephemeralSettingTimestamp) ?? 0
  return { seconds, setAt, toldAt: setAt, by: 'chat' }
}
