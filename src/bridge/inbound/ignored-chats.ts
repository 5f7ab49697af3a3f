// Says which chats of an instance are not bridged, by the patterns of its setting. A star stands for any text.

import { groupJid, lidJid, phoneJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { InstanceName } from '../../core/ids.ts'

export type IgnoredChats = (instance: InstanceName, chat: Chat) => boolean

export function createIgnoredChats(settingsOf: SettingsOf): IgnoredChats {
  // A changed setting is another array, so nothing here gets old or is left behind.
  const rules = new WeakMap<readonly string[], (chat: Chat) => boolean>()
  return (instance, chat) => {
    const { ignoreJids } = settingsOf(instance)
    const rule = rules.get(ignoreJids) ?? createIgnoreRule(ignoreJids)
    rules.set(ignoreJids, rule)
    return rule(chat)
  }
}

export function createIgnoreRule(patterns: readonly string[]): (chat: Chat) => boolean {
  const rules = patterns.map((pattern) => pattern.toLowerCase().split('*'))
  if (rules.length === 0) return () => false
  return (chat) => namesOf(chat).some((name) => rules.some((parts) => isMatch(name, parts)))
}

/** `parts` are the texts between the stars. Each is looked for once, so many stars cost no more time than few. */
function isMatch(name: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

function namesOf(chat: Chat): string[] {
  if (chat.kind === 'group') return [groupJid(chat.id)]
  const { phone, lid } = chat
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}
