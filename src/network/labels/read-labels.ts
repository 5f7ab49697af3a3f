// Reads what the library tells about labels.

import { parseChat } from '../../core/address.ts'
import type { LabelChange } from '../../core/sync/labels.ts'
import { cleanName } from '../decode/clean.ts'
import type { BaileysEventMap, BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'

/** The ids that WhatsApp gives are numbers. */
const idPattern = /^\d{1,15}$/

/** The name of a label may be missing, although the library declares it. */
type Edit = Omit<BaileysEventMap['labels.edit'], 'name'> & { name?: string | null }

export function editOf({ id, name, deleted }: Edit): LabelChange | undefined {
  if (!idPattern.test(id)) return undefined
  return deleted ? { kind: 'deleted', labelId: id } : { kind: 'named', labelId: id, name: cleanName(name ?? '') }
}

/** Undefined for the label of a message, and for a chat that is neither with a person nor a group. */
export function associationOf({ association, type }: BaileysEventMap['labels.association']): LabelChange | undefined {
  const { labelId, chatId } = association
  if ('messageId' in association || !idPattern.test(labelId) || !parseChat(chatId)) return undefined
  return { kind: 'chat', labelId, chat: chatId, isLabelled: type === 'add' }
}

/** What the server says about a collection; undefined when it is asked about others. */
export function answerAbout(stanza: BinaryNode, name: string): 'refused' | 'empty' | 'changes' | undefined {
  const sync = childOf(stanza, 'sync')
  const about = sync && childrenOf(sync, 'collection').find(({ attrs }) => attrs['name'] === name)
  if (!about) return undefined
  if (about.attrs['type'] === 'error') return 'refused'
  const patches = childrenOf(childOf(about, 'patches') ?? about, 'patch')
  return patches.length === 0 && !childOf(about, 'snapshot') ? 'empty' : 'changes'
}
