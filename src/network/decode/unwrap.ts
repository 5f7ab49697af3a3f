// Unwraps messages: copies to own devices, disappearing messages, edits, view-once messages and others.

import type { proto } from '../library/library.ts'

export type Part = keyof proto.IMessage

export type Unwrapped = {
  message: proto.IMessage
  /** The field that holds the content. Undefined when there is none. */
  part: Part | undefined
  /** The innermost wrapper. */
  wrapper: Part | undefined
  isViewOnce: boolean
  /** The key to votes and edits that refer to this message. */
  secret: Uint8Array | null
}

/** No real message is nested deeper. */
const deepest = 12

const viewOnceWrappers = new Set<Part>(['viewOnceMessage', 'viewOnceMessageV2', 'viewOnceMessageV2Extension'])
const wrappers = new Set<Part>([
  ...viewOnceWrappers,
  'associatedChildMessage',
  'botForwardedMessage',
  'botInvokeMessage',
  'botTaskMessage',
  'commentMessage',
  'deviceSentMessage',
  'documentWithCaptionMessage',
  'editedMessage',
  'ephemeralMessage',
  'eventCoverImage',
  'groupMentionedMessage',
  'groupStatusMentionMessage',
  'groupStatusMessage',
  'groupStatusMessageV2',
  'limitSharingMessage',
  'lottieStickerMessage',
  'pollCreationMessageV4',
  'pollCreationOptionImageMessage',
  'questionMessage',
  'questionReplyMessage',
  'statusAddYours',
  'statusMentionMessage',
])

/** Fields that describe a message or carry keys. They are never content. */
const besides = new Set<Part>([
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
])

export function unwrap(outermost: proto.IMessage): Unwrapped {
  let message = outermost
  let isViewOnce = false
  let wrapper: Part | undefined
  let secret: Uint8Array | null = null
  for (let depth = 0; ; depth++) {
    secret ??= message.messageContextInfo?.messageSecret ?? null
    const part = partOf(message)
    const inner = part !== undefined && wrappers.has(part) ? innerOf(message, part) : undefined
    if (!inner || depth === deepest) return { message, part, wrapper, isViewOnce, secret }
    if (part !== undefined && viewOnceWrappers.has(part)) isViewOnce = true
    message = inner
    wrapper = part
  }
}

function partOf(message: proto.IMessage): Part | undefined {
  for (const name of Object.keys(message) as Part[]) {
    if (!besides.has(name) && message[name] != null) return name
  }
  return undefined
}

function innerOf(message: proto.IMessage, part: Part): proto.IMessage | undefined {
  return (message[part] as { message?: proto.IMessage | null } | null)?.message ?? undefined
}
