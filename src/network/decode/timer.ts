// Reads the timer of disappearing messages that a message carries or sets.

import { timerSeconds } from '../../core/chat-timer.ts'
import type { TimerOrigin, ToldTimer } from '../../core/chat-timer.ts'
import { proto } from '../library/library.ts'
import { numberOf } from './values.ts'

type Told = { at: number; fromMe: boolean }
type Number64 = Parameters<typeof numberOf>[0]

const { Initiator } = proto.DisappearingMode

/** The timer in the context of a message. Undefined when the message says nothing about it. */
export function carriedTimer(context: proto.IContextInfo | undefined, told: Told): ToldTimer | undefined {
  const { expiration, ephemeralSettingTimestamp, disappearingMode } = context ?? {}
  const seconds = timerSeconds(expiration)
  const setAt = setAtOf(ephemeralSettingTimestamp, told)
  if (seconds === undefined || (seconds === 0 && setAt === 0)) return undefined
  return { seconds, setAt, toldAt: unixSeconds(told), by: originOf(disappearingMode, told), isSetting: false }
}

/** The timer that a message sets. Undefined for a timer that no client accepts. */
export function setTimer(setting: proto.Message.IProtocolMessage, told: Told): ToldTimer | undefined {
  const seconds = timerSeconds(setting.ephemeralExpiration)
  if (seconds === undefined) return undefined
  const toldAt = unixSeconds(told)
  const setAt = setAtOf(setting.ephemeralSettingTimestamp, told) || toldAt
  return { seconds, setAt, toldAt, by: originOf(setting.disappearingMode, told), isSetting: true }
}

/** A setting is not newer than the message that tells it. Otherwise a date in the future would win for ever. */
function setAtOf(timestamp: Number64, told: Told): number {
  const setAt = Math.trunc(numberOf(timestamp) ?? 0)
  return setAt > 0 ? Math.min(setAt, unixSeconds(told)) : 0
}

function unixSeconds({ at }: Told): number {
  return Math.trunc(at / 1000)
}

/** The sender's "me" is the other person for us, unless the message comes from the owner's phone. */
function originOf(mode: proto.IDisappearingMode | null | undefined, { fromMe }: Told): TimerOrigin {
  if (mode?.initiator === Initiator.INITIATED_BY_ME) return fromMe ? 'me' : 'other'
  if (mode?.initiator === Initiator.INITIATED_BY_OTHER) return fromMe ? 'other' : 'me'
  return 'chat'
}
