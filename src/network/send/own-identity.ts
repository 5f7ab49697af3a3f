// The account as others see it: by phone number or by LID, depending on the chat.

import { lidDomain } from '../../core/address.ts'
import { jidDecode, jidNormalizedUser } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'

export type OwnIdentity = {
  device: number
  isOwn(user: string): boolean
  /** Without the device, in the addressing of the chat. */
  jidFor(chat: string): string
  /** With the device; the name under which a group knows our key. */
  senderIn(addressing: string): string
}

export function ownIdentity({ authState }: WASocket): OwnIdentity {
  const { id = '', lid } = authState.creds.me ?? {}
  const { user, device = 0 } = jidDecode(id) ?? {}
  const lidUser = jidDecode(lid)?.user
  return {
    device,
    isOwn: (other) => other === user || other === lidUser,
    jidFor: (chat) => jidNormalizedUser(lid !== undefined && jidDecode(chat)?.server === lidDomain ? lid : id),
    senderIn: (addressing) => (addressing === 'lid' && lid !== undefined ? lid : id),
  }
}
