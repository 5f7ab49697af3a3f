// Says which chats are not bridged, by the patterns of SERVICE_IGNORE_JIDS. A star stands for any text.

import { groupJid, lidJid, phoneJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'

export function createIgnoreRule(patterns: readonly string[]): (chat: Chat) => boolean {
  const rules = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 'i'))
  if (rules.length === 0) return () => false
  return (chat) => namesOf(chat).some((name) => rules.some((rule) => rule.test(name)))
}

function namesOf(chat: Chat): string[] {
  if (chat.kind === 'group') return [groupJid(chat.id)]
  const { phone, lid } = chat
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}
