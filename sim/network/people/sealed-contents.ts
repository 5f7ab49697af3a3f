// Encrypts contents with the secret of the message they refer to. Only devices that have that message can read them.
import { createCipheriv, createHash, createHmac } from 'node:crypto'
import { proto } from '../library.ts'
import { edit, messageKey, type MessageRef } from './contents.ts'

/**
 * The message that the content refers to, the author of that message, and the author of the content. Both sides must
 * use the same addresses.
 */
export type Seal = { about: MessageRef; author: string; sealer: string; secret: Uint8Array; iv: Buffer; at: number }

export function pollVote(options: string[], seal: Seal): proto.IMessage {
  const selectedOptions = options.map((option) => createHash('sha256').update(option).digest())
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish()
  const bound = Buffer.from(`${seal.about.id}\u0000${seal.sealer}`)
  const vote = { encPayload: closed(plain, 'Poll Vote', seal, bound), encIv: seal.iv }
  return { pollUpdateMessage: { pollCreationMessageKey: messageKey(seal.about), vote, senderTimestampMs: seal.at } }
}

/** Builds an edit as newer phones send it. */
export function sealedEdit(edited: proto.IMessage, seal: Seal): proto.IMessage {
  const { message } = edit(seal.about, edited, seal.at).editedMessage ?? {}
  const plain = proto.Message.encode(message ?? {}).finish()
  return {
    secretEncryptedMessage: {
      targetMessageKey: messageKey(seal.about),
      encPayload: closed(plain, 'Message Edit', seal),
      encIv: seal.iv,
      secretEncType: proto.Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT,
    },
  }
}

/** Builds a reaction as phones send it in the announcement group of a community. */
export function sealedReaction(emoji: string, seal: Seal): proto.IMessage {
  const plain = proto.Message.ReactionMessage.encode({ text: emoji, senderTimestampMs: seal.at }).finish()
  const sealed = { encPayload: closed(plain, 'Enc Reaction', seal), encIv: seal.iv }
  return { encReactionMessage: { targetMessageKey: messageKey(seal.about), ...sealed } }
}

function closed(
  plain: Uint8Array,
  purpose: string,
  { about, author, sealer, secret, iv }: Seal,
  bound?: Buffer,
): Buffer {
  const first = createHmac('sha256', Buffer.alloc(32)).update(secret).digest()
  const info = Buffer.concat([Buffer.from(about.id + author + sealer + purpose), Buffer.from([1])])
  const cipher = createCipheriv('aes-256-gcm', createHmac('sha256', first).update(info).digest(), iv)
  if (bound) cipher.setAAD(bound)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}
