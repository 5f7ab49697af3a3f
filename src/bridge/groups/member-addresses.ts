// Reads the people that a caller names: by jid, or by phone number in any spelling.

import { parseChat, personJid, phoneJid } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import type { Jid } from '../../core/ids.ts'
import { readPhone } from '../../core/phone-spelling.ts'

/** In the order of the texts, each person once. Throws SERVICE_BAD_REQUEST; `field` is where the caller gave the texts. */
export function readMemberAddresses(texts: readonly string[], field: string): Jid[] {
  const addresses = texts.map((text, index) => {
    const address = readMemberAddress(text)
    if (address !== undefined) return address
    const expected = 'a jid such as 5511888880001@s.whatsapp.net, or a phone number with its country code'
    throw new BridgeError('SERVICE_BAD_REQUEST', `${field}.${index} is not the address of a person: ${expected}`)
  })
  return [...new Set(addresses)]
}

/** Undefined for a text that names no person. */
export function readMemberAddress(text: string): Jid | undefined {
  if (!text.includes('@')) return addressOfPhone(text)
  const chat = parseChat(text.trim())
  return chat?.kind === 'person' ? personJid(chat) : undefined
}

function addressOfPhone(text: string): Jid | undefined {
  const phone = readPhone(text)
  return phone === undefined ? undefined : phoneJid(phone)
}
