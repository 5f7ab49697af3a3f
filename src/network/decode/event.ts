// Turns a decrypted message into an event of the service.

import type { Person } from '../../core/address.ts'
import type { ToldTimer } from '../../core/chat-timer.ts'
import type { Content, NetworkEvent, SealedEvent } from '../../core/message.ts'
import { proto } from '../library/library.ts'
import { contentOf } from './content.ts'
import { adOf, contextOf, mentionsOf, quoteOf, targetOf } from './context.ts'
import type { OpenedMessage } from './opened-message.ts'
import type { Origin } from './origin.ts'
import { carriedTimer, setTimer } from './timer.ts'
import { unwrap } from './unwrap.ts'
import type { Unwrapped } from './unwrap.ts'
import { base64Of } from './values.ts'

type Decoded =
  | { event: NetworkEvent; timer?: ToldTimer | undefined }
  /** The message has nothing for people. This is the network's name for it. */
  | { passedOver: string }

type Context = { origin: Origin; own: Person }
type Sealed = {
  encPayload?: Uint8Array | null
  encIv?: Uint8Array | null
}

const { Type } = proto.Message.ProtocolMessage
const { SecretEncType } = proto.Message.SecretEncryptedMessage

/** Never throws. Undefined for a message that only carries keys. */
export function decodeEvent(opened: Omit<OpenedMessage, 'senderKey'>, context: Context): Decoded | undefined {
  const { message, unknownField } = opened
  if (unknownField !== undefined) return { event: unknownEvent(`field ${unknownField}`, context) }
  try {
    if (message) return decode(unwrap(message), context)
  } catch {
    // A field has an unexpected shape.
  }
  return { event: unknownEvent('unreadable', context) }
}

function unknownEvent(name: string, context: Context): NetworkEvent {
  return messageEvent({ type: 'unsupported', name, text: null }, undefined, context)
}

function decode(unwrapped: Unwrapped, context: Context): Decoded | undefined {
  const { message } = unwrapped
  if (message.protocolMessage) return protocolEvent(message.protocolMessage, unwrapped, context)
  const referring = referringEvent(message, context)
  if (referring) return { event: referring }
  const content = contentOf(unwrapped)
  if (content) {
    const timer = carriedTimer(contextOf(unwrapped), context.origin.envelope)
    return { event: messageEvent(content, unwrapped, context), timer }
  }
  // The wrapper holds a kind of message that is not known here.
  return unwrapped.wrapper === undefined || message.senderKeyDistributionMessage
    ? undefined
    : { event: unknownEvent(unwrapped.wrapper, context) }
}

function messageEvent(content: Content, unwrapped: Unwrapped | undefined, { origin, own }: Context): NetworkEvent {
  const context = unwrapped && contextOf(unwrapped)
  return {
    ...origin.envelope,
    kind: 'message',
    content,
    quote: quoteOf(context, own),
    mentions: mentionsOf(context),
    ad: adOf(context),
    secret: base64Of(unwrapped?.secret),
  }
}

/** An event about another message: a reaction or something sealed. */
function referringEvent(message: proto.IMessage, context: Context): NetworkEvent | undefined {
  const { reactionMessage, pollUpdateMessage, secretEncryptedMessage } = message
  if (reactionMessage) {
    const target = targetOf(reactionMessage.key, context.origin, context.own)
    const emoji = reactionMessage.text ?? ''
    return target ? { ...context.origin.envelope, kind: 'reaction', target, emoji } : undefined
  }
  if (pollUpdateMessage) {
    return sealedEvent('poll_vote', pollUpdateMessage.pollCreationMessageKey, pollUpdateMessage.vote, context)
  }
  if (secretEncryptedMessage) {
    const { secretEncType, targetMessageKey } = secretEncryptedMessage
    const purpose = secretEncType === SecretEncType.MESSAGE_EDIT ? 'edit' : 'other'
    return sealedEvent(purpose, targetMessageKey, secretEncryptedMessage, context)
  }
  const { encReactionMessage, encCommentMessage, encEventResponseMessage } = message
  if (encReactionMessage) {
    return sealedEvent('reaction', encReactionMessage.targetMessageKey, encReactionMessage, context)
  }
  if (encCommentMessage) return sealedEvent('other', encCommentMessage.targetMessageKey, encCommentMessage, context)
  if (!encEventResponseMessage) return undefined
  return sealedEvent('other', encEventResponseMessage.eventCreationMessageKey, encEventResponseMessage, context)
}

function sealedEvent(
  purpose: SealedEvent['purpose'],
  key: proto.IMessageKey | null | undefined,
  sealed: Sealed | null | undefined,
  { origin, own }: Context,
): SealedEvent | undefined {
  const target = targetOf(key, origin, own)
  const payload = base64Of(sealed?.encPayload)
  const iv = base64Of(sealed?.encIv)
  if (!target || payload === null || iv === null) return undefined
  return { ...origin.envelope, kind: 'sealed', purpose, target, payload, iv }
}

function protocolEvent(message: proto.Message.IProtocolMessage, unwrapped: Unwrapped, context: Context): Decoded {
  const { type, key, editedMessage } = message
  const { origin, own } = context
  const target = targetOf(key, origin, own)
  // Revoke is the default type, which the sender may leave out.
  const isRevoke = type === Type.REVOKE || type == null
  if (isRevoke && target) return { event: { ...origin.envelope, kind: 'revoke', target } }
  if (type === Type.MESSAGE_EDIT && target && editedMessage) {
    const edited = unwrap(editedMessage)
    const content = contentOf(edited) ?? { type: 'unsupported', name: 'editedMessage', text: null }
    return { event: { ...origin.envelope, kind: 'edit', target, content, mentions: mentionsOf(contextOf(edited)) } }
  }
  // The server tells the timer of a group. A member cannot set it with a message.
  const isSetting = type === Type.EPHEMERAL_SETTING && origin.envelope.chat.kind === 'person'
  const timer = isSetting ? setTimer(message, origin.envelope) : undefined
  if (timer) {
    const changes = [{ change: 'ephemeral' as const, seconds: timer.seconds }]
    return { event: { ...origin.envelope, kind: 'group', changes }, timer }
  }
  if (!isRevoke && type !== Type.MESSAGE_EDIT) return { passedOver: `protocol ${Type[type]}` }
  const content = { type: 'unsupported' as const, name: `protocol ${Type[type ?? 0]}`, text: null }
  return { event: messageEvent(content, unwrapped, context) }
}

/** All people in an event. The objects are the event's own, so the caller can complete them. */
export function peopleIn(event: NetworkEvent): Person[] {
  const people: Person[] = [event.sender]
  if (event.chat.kind === 'person') people.push(event.chat)
  if (event.kind === 'message' && event.quote?.sender) people.push(event.quote.sender)
  if (event.kind === 'message') people.push(...(event.quote?.mentions ?? []))
  if (event.kind === 'message' || event.kind === 'edit') people.push(...event.mentions)
  if (event.kind === 'group') for (const change of event.changes) if ('people' in change) people.push(...change.people)
  return people
}
