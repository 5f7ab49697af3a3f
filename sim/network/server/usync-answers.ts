// Default answer to user sync: which users are on the network, with their devices and LIDs.
import { child, children, stanza, textOf, type Stanza } from '../wire/stanza.ts'
import { withoutDevice } from '../wire/jid.ts'
import { LISTED_AT } from '../accounts/device-identity.ts'
import type { DeviceWatch } from './device-watch.ts'
import type { Directory } from './directory.ts'
import type { IqTable } from './iq-router.ts'
import { keyIndexOf, type User } from './user.ts'

const PROTOCOLS = new Set(['contact', 'devices', 'lid', 'status', 'disappearing_mode'])

export function usyncAnswers(directory: Directory, watch: DeviceWatch): IqTable {
  return {
    'usync get usync': ({ device, content }) => {
      const asked = new Set((child(content, 'query')?.content as Stanza[] | undefined)?.map((one) => one.tag))
      // An answer without the unknown protocols would hide that they are missing.
      if (![...asked].every((tag) => PROTOCOLS.has(tag))) return null
      const users = children(child(content, 'list'), 'user').flatMap((one) => {
        const user = asked.has('devices') ? directory.find(one.attrs.jid ?? '') : undefined
        if (user?.isUnnamed) return []
        if (user) watch.watch(user, device)
        return [answerUser(directory, asked, one)]
      })
      const attributes = { sid: content?.attrs['sid'], mode: 'query', index: '0', last: 'true', context: 'message' }
      const result = [...asked].map((tag) => stanza(tag, tag === 'contact' ? { version: '0' } : {}))
      const parts = [stanza('result', {}, result), stanza('list', {}, users), stanza('side_list')]
      return [stanza('usync', attributes, parts)]
    },
  }
}

function answerUser(directory: Directory, asked: Set<string>, query: Stanza): Stanza {
  const phone = textOf(child(query, 'contact'))?.replace(/\D/g, '')
  const address = query.attrs['jid'] ?? phone ?? ''
  const user = address === '' ? undefined : directory.find(address)
  const jid =
    query.attrs['jid'] === undefined ? (user?.pnJid ?? `${phone ?? ''}@s.whatsapp.net`) : withoutDevice(address)
  const parts: Stanza[] = []
  if (asked.has('contact')) parts.push(stanza('contact', { type: user ? 'in' : 'out' }))
  if (asked.has('devices')) parts.push(devicesNode(user))
  // The client stores `lid` with the address it asked for, so `lid` is right only for a phone number.
  if (asked.has('lid') && user?.shownLid && !jid.endsWith('@lid')) parts.push(stanza('lid', { val: user.shownLid }))
  if (asked.has('status')) parts.push(stanza('status', { t: '0' }, Buffer.from(user?.about ?? '')))
  if (asked.has('disappearing_mode')) parts.push(disappearingMode(user?.defaultTimer))
  return stanza('user', { jid }, parts)
}

/** The timer with which a user begins new chats. */
export function disappearingMode({ seconds, setAt }: User['defaultTimer'] = { seconds: 0, setAt: 0 }): Stanza {
  return stanza('disappearing_mode', { duration: String(seconds), t: String(setAt) })
}

/** The devices, and the signed list of their indexes if there is more than the primary device. */
function devicesNode(user: User | undefined): Stanza {
  const ids = [...(user?.devices.keys() ?? [])]
  const devices = ids.map((id) =>
    stanza('device', id === 0 ? { id: '0' } : { id: String(id), 'key-index': String(keyIndexOf(id)) }),
  )
  const list = stanza('device-list', {}, devices)
  const signed = ids.length > 1 ? user?.signKeyIndexes?.(ids.map(keyIndexOf)) : undefined
  return stanza('devices', {}, signed ? [list, stanza('key-index-list', { ts: String(LISTED_AT) }, signed)] : [list])
}
