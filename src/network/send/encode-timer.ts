// Encodes the timer of a chat as each message of the chat carries it.

import type { Timer, TimerOrigin } from '../../core/chat-timer.ts'
import { proto } from '../library/library.ts'

const { Initiator, Trigger } = proto.DisappearingMode

const modes: Record<TimerOrigin, proto.IDisappearingMode> = {
  chat: { initiator: Initiator.CHANGED_IN_CHAT, trigger: Trigger.CHAT_SETTING },
  me: { initiator: Initiator.INITIATED_BY_ME, trigger: Trigger.ACCOUNT_SETTING, initiatedByMe: true },
  other: { initiator: Initiator.INITIATED_BY_OTHER, trigger: Trigger.ACCOUNT_SETTING, initiatedByMe: false },
}

/** The recipient's phone compares the date with the setting that it knows. A setting without a date changes nothing there. */
export function encodeTimer({ seconds, setAt, by }: Timer): proto.IContextInfo {
  if (setAt === 0) return { expiration: seconds }
  return { expiration: seconds, ephemeralSettingTimestamp: setAt, disappearingMode: modes[by] }
}
