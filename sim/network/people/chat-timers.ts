// The timers of disappearing messages that one phone knows, one per chat with a person. A group has its own timer.
import { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import { unwrap } from './received-message.ts'
import type { ChatTarget } from './sent-message.ts'

/** `setAt` is in unix seconds. Zero seconds mean that messages stay. */
export type ChatTimer = { seconds: number; setAt: number; initiator: proto.DisappearingMode.Initiator }

const { Type } = proto.Message.ProtocolMessage
const { Initiator, Trigger } = proto.DisappearingMode
const noTimer: ChatTimer = { seconds: 0, setAt: 0, initiator: Initiator.CHANGED_IN_CHAT }
/** Contents that change another message or the chat. They carry no timer. */
const UNTIMED = new Set<string>([
  'protocolMessage',
  'reactionMessage',
  'pollUpdateMessage',
  'secretEncryptedMessage',
  'encReactionMessage',
  'editedMessage',
  'keepInChatMessage',
  'pinInChatMessage',
])
const WRAPPERS = ['documentWithCaptionMessage', 'ephemeralMessage', 'viewOnceMessage', 'viewOnceMessageV2'] as const

export class ChatTimers {
  readonly #timers = new Map<User, ChatTimer>()

  /** Undefined for a person with whom the phone has no chat yet. */
  of(person: User): ChatTimer | undefined {
    return this.#timers.get(person)
  }

  set(person: User, timer: ChatTimer): void {
    this.#timers.set(person, timer)
  }

  /** The first message of a new chat begins with the timer that its author uses by default. */
  begin(person: User, { seconds, setAt }: { seconds: number; setAt: number }): void {
    if (this.#timers.has(person)) return
    this.set(person, seconds > 0 ? { seconds, setAt, initiator: Initiator.INITIATED_BY_ME } : noTimer)
  }

  /** Learns from a received message. The newest setting wins. */
  learn(person: User, message: proto.IMessage, at: number): void {
    const known = this.#timers.get(person)
    const told = settingIn(unwrap(message), at)
    if (told && (!known || told.setAt > known.setAt)) this.set(person, told)
    else if (!known) this.set(person, noTimer)
  }

  /** The message as a phone sends it in this chat. What the test itself gave stays. */
  applied(chat: ChatTarget, message: proto.IMessage): proto.IMessage {
    if ('members' in chat) {
      const { ephemeralSeconds = 0 } = chat
      return ephemeralSeconds > 0 ? withContext(message, { expiration: ephemeralSeconds }) : message
    }
    const timer = this.#timers.get(chat)
    if (!timer || timer.setAt === 0) return message
    const { seconds, setAt, initiator } = timer
    const isDefault = initiator !== Initiator.CHANGED_IN_CHAT
    const disappearingMode = { initiator, trigger: isDefault ? Trigger.ACCOUNT_SETTING : Trigger.CHAT_SETTING }
    return withContext(message, { expiration: seconds, ephemeralSettingTimestamp: setAt, disappearingMode })
  }
}

/** The message with which a person sets the timer of a chat. */
export function timerSetting({ seconds, setAt }: Pick<ChatTimer, 'seconds' | 'setAt'>): proto.IMessage {
  const type = Type.EPHEMERAL_SETTING
  return { protocolMessage: { type, ephemeralExpiration: seconds, ephemeralSettingTimestamp: setAt } }
}

function settingIn(content: proto.IMessage, at: number): ChatTimer | undefined {
  const { protocolMessage } = content
  if (protocolMessage?.type === Type.EPHEMERAL_SETTING) {
    const setAt = Number(protocolMessage.ephemeralSettingTimestamp ?? at)
    return { seconds: protocolMessage.ephemeralExpiration ?? 0, setAt, initiator: Initiator.CHANGED_IN_CHAT }
  }
  const context = contextOf(content)
  if (context?.ephemeralSettingTimestamp == null) return undefined
  const { expiration, ephemeralSettingTimestamp, disappearingMode } = context
  const initiator = disappearingMode?.initiator ?? Initiator.CHANGED_IN_CHAT
  return { seconds: expiration ?? 0, setAt: Number(ephemeralSettingTimestamp), initiator: turned(initiator) }
}

/** The initiator as the other phone sees it. */
function turned(initiator: proto.DisappearingMode.Initiator): proto.DisappearingMode.Initiator {
  if (initiator === Initiator.INITIATED_BY_ME) return Initiator.INITIATED_BY_OTHER
  return initiator === Initiator.INITIATED_BY_OTHER ? Initiator.INITIATED_BY_ME : initiator
}

/** Every kind of content keeps its timer, its quote and its mentions in the field `contextInfo`. */
export function contextOf(content: proto.IMessage): proto.IContextInfo | undefined {
  const parts = Object.values(content) as ({ contextInfo?: proto.IContextInfo | null } | string | null | undefined)[]
  return parts.flatMap((part) => (typeof part === 'object' && part?.contextInfo ? [part.contextInfo] : []))[0]
}

function withContext(message: proto.IMessage, timer: proto.IContextInfo): proto.IMessage {
  for (const wrapper of WRAPPERS) {
    const inner = message[wrapper]?.message
    if (inner) return { ...message, [wrapper]: { message: withContext(inner, timer) } }
  }
  if (message.conversation != null) {
    const { conversation: text, ...rest } = message
    return { ...rest, extendedTextMessage: { text, contextInfo: timer } }
  }
  const [kind, content] =
    Object.entries(message).find(([name]) => /Message(V\d)?$/.test(name) && !UNTIMED.has(name)) ?? []
  if (kind === undefined) return message
  const { contextInfo } = content as { contextInfo?: proto.IContextInfo }
  return { ...message, [kind]: { ...(content as object), contextInfo: { ...timer, ...contextInfo } } }
}
