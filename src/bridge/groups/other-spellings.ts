// Tries the other spelling of a phone number that the network does not know: some countries have two for one mobile number.

import { parseChat, phoneJid } from '../../core/address.ts'
import { GroupError } from '../../core/group-administration.ts'
import type { MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { phoneVariants } from '../../core/phone-variants.ts'

/** The network's code for a person who is not known, or is no member. */
const unknownPerson = '404'

type Change = (addresses: readonly Jid[]) => Promise<MemberResult[]>

/** The results keep their order and the caller's addresses. */
export async function tryOtherSpellings(results: readonly MemberResult[], change: Change): Promise<MemberResult[]> {
  const named = new Set(results.map(({ address }) => address))
  const others = new Map<Jid, Jid>()
  for (const { address, code } of results) {
    const other = code === unknownPerson ? otherSpelling(address) : undefined
    if (other !== undefined && !named.has(other)) others.set(other, address)
  }
  if (others.size === 0) return [...results]
  const again = await change([...others.keys()]).catch((error: unknown) => {
    // The first change was made, so its results stay.
    if (error instanceof GroupError) return []
    throw error
  })
  const better = new Map(again.map((result) => [others.get(result.address), result]))
  return results.map((result) => ({ ...(better.get(result.address) ?? result), address: result.address }))
}

function otherSpelling(address: Jid): Jid | undefined {
  const chat = parseChat(address)
  if (chat?.kind !== 'person' || chat.phone === null) return undefined
  const [, other] = phoneVariants(chat.phone)
  return other === undefined ? undefined : phoneJid(other)
}
