// The account's own addresses: a chat addresses it by phone number or by LID.

import { lidDomain } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { jidDecode, jidNormalizedUser } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'

export type OwnIdentity = {
  isOwn(user: string): boolean
  /** Whether it is the device that this service is. */
  isThis(one: { user: string; device: number }): boolean
  /** Without the device, as the chat addresses the account. */
  jidFor(chat: Jid): Jid
  /** With the device. A group knows our key under this jid. */
  senderIn(addressing: string): Jid
}

export function ownIdentity({ authState }: WASocket): OwnIdentity {
  const { id = '', lid } = authState.creds.me ?? {}
  const { user, device = 0 } = jidDecode(id) ?? {}
  const lidUser = jidDecode(lid)?.user
  const isOwn = (other: string) => other === user || other === lidUser
  return {
    isOwn,
    isThis: (one) => isOwn(one.user) && one.device === device,
    jidFor: (chat) => jidNormalizedUser(lid !== undefined && jidDecode(chat)?.server === lidDomain ? lid : id),
    senderIn: (addressing) => (addressing === 'lid' && lid !== undefined ? lid : id),
  }
}
