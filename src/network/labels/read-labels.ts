// Reads what the library tells about labels.

import { parseChat } from '../../core/address.ts'
import type { LabelChange } from '../../core/labels.ts'
import { cleanName } from '../decode/clean.ts'
import type { BaileysEventMap, BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'

/** The ids that WhatsApp gives are numbers. */
const idPattern = /^\d{1,15}$/

export function editOf({ id, name, deleted }: BaileysEventMap['labels.edit']): LabelChange | undefined {
  if (!idPattern.test(id)) return undefined
  return deleted ? { kind: 'deleted', labelId: id } : { kind: 'named', labelId: id, name: cleanName(name ?? '') }
}

/** Undefined for the label of a message, and for a chat that is neither with a person nor a group. */
export function associationOf({ association, type }: BaileysEventMap['labels.association']): LabelChange | undefined {
  const { labelId, chatId } = association
  if ('messageId' in association || !idPattern.test(labelId) || !parseChat(chatId)) return undefined
  return { kind: 'chat', labelId, chat: chatId, isLabelled: type === 'add' }
}

/** Whether the server has refused a change of this collection. */
export function isRefusal(answer: BinaryNode, collection: string): boolean {
  const sync = childOf(answer, 'sync')
  return (sync ? childrenOf(sync, 'collection') : []).some(({ attrs }) => attrs['name'] === collection && attrs['type'] === 'error')
}
