// Says after which time a message that is sent to a chat disappears.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import { timerSeconds } from '../../core/chat-timer.ts'
import type { Timer } from '../../core/chat-timer.ts'
import type { Jid } from '../../core/ids.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import { isJidGroup } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'
import { askDefaultTimer } from '../queries/default-timer.ts'
import type { DefaultTimer } from '../queries/default-timer.ts'
import type { Ask } from '../queries/user-sync.ts'
import type { GroupRosters } from './group-rosters.ts'
import { ownIdentity } from './own-identity.ts'

type Deps = {
  socket: WASocket
  account: Pick<Account, 'timers'>
  rosters: Pick<GroupRosters, 'metadataOf'>
  ask: Ask
  clock: Clock
}

/** Storage or the server may be silent. A message whose timer is not known in this time does not leave. */
const lookupMs = 30_000
/** A message does not wait longer for the account's default. */
const defaultMs = 3_000

export class OutgoingTimers {
  readonly #deps: Deps
  #asked: Promise<DefaultTimer | undefined> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when messages of this chat stay. */
  async of(chat: Jid, isFirst: boolean): Promise<Timer | undefined> {
    const found = isJidGroup(chat) ? this.#ofGroup(chat) : this.#ofPerson(chat, isFirst)
    const late = () => new Error(writeReason('notReadyInTime', { seconds: lookupMs / 1000 }))
    const timer = await withDeadline(this.#deps.clock, lookupMs, found, late)
    return timer && timer.seconds > 0 ? timer : undefined
  }

  async #ofGroup(group: Jid): Promise<Timer> {
    const { ephemeralDuration } = await this.#deps.rosters.metadataOf(group)
    return { seconds: timerSeconds(ephemeralDuration) ?? 0, setAt: 0, toldAt: 0, by: 'chat' }
  }

  async #ofPerson(chat: Jid, isFirst: boolean): Promise<Timer | undefined> {
    const person = parseChat(chat)
    if (person?.kind !== 'person') return undefined
    const known = await this.#deps.account.timers.of(person)
    return known ?? (isFirst ? this.#ofNewChat(person) : undefined)
  }

  /** A new chat begins with the timer that the owner has chosen for new chats. The phone may know the chat longer than we. */
  async #ofNewChat(person: Person): Promise<Timer | undefined> {
    const { timers } = this.#deps.account
    const known = this.#knownDefault()
    if (known?.seconds === 0 || (await timers.isOld(person))) return undefined
    const { seconds = 0, setAt = 0 } = known ?? (await this.#askDefault()) ?? {}
    if (seconds === 0) return undefined
    const timer: Timer = { seconds, setAt, toldAt: 0, by: 'me' }
    await timers.note(person, timer)
    return timer
  }

  /** The server tells changes, and the library keeps them with the credentials. */
  #knownDefault(): DefaultTimer | undefined {
    const mode = this.#deps.socket.authState.creds.accountSettings.defaultDisappearingMode
    if (!mode) return undefined
    const { ephemeralExpiration, ephemeralSettingTimestamp } = mode
    return { seconds: timerSeconds(ephemeralExpiration) ?? 0, setAt: Number(ephemeralSettingTimestamp ?? 0) }
  }

  /** One question for all messages that wait for it. If the server does not answer, the message leaves without a timer. */
  #askDefault(): Promise<DefaultTimer | undefined> {
    const asked = (this.#asked ??= this.#keepDefault().finally(() => {
      this.#asked = undefined
    }))
    const late = () => new Error('the server does not tell the default timer in time')
    return withDeadline(this.#deps.clock, defaultMs, asked, late).catch(ignoreRejection)
  }

  /** The library keeps the answer with the credentials, so that it is asked for once. */
  async #keepDefault(): Promise<DefaultTimer> {
    const { ask, socket } = this.#deps
    const found = await askDefaultTimer(ask, ownIdentity(socket).jidFor(''))
    const mode = { ephemeralExpiration: found.seconds, ephemeralSettingTimestamp: found.setAt }
    const { accountSettings } = socket.authState.creds
    socket.ev.emit('creds.update', { accountSettings: { ...accountSettings, defaultDisappearingMode: mode } })
    return found
  }
}
