// Looks a person up by phone number.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import { askAboutUsers } from './user-sync.ts'
import type { Ask } from './user-sync.ts'

const about = [
  { tag: 'contact', attrs: {} },
  { tag: 'lid', attrs: {} },
] as const

const notThere: ReadonlySet<string> = new Set(['out', 'invalid'])

/** The network answers with its own spelling of the number, because mobile numbers of some countries have two. */
export async function findPerson(ask: Ask, phone: string): Promise<Person | null> {
  const users = [{ tag: 'user', attrs: {}, content: [{ tag: 'contact', attrs: {}, content: `+${phone}` }] }]
  const [answer] = await askAboutUsers(ask, { context: 'interactive', about, users })
  const type = answer?.about.get('contact')?.attrs['type'] ?? ''
  if (notThere.has(type)) return null
  const chat = parseChat(answer?.jid ?? '')
  // Only a clear answer counts. Otherwise a number would be given up by mistake.
  if (type !== 'in' || chat?.kind !== 'person') {
    throw new Error('the network did not say whether this phone number is on it')
  }
  const lid = parseChat(answer?.about.get('lid')?.attrs['val'] ?? '')
  return { phone: chat.phone, lid: chat.lid ?? (lid?.kind === 'person' ? lid.lid : null) }
}
