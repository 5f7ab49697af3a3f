// Seals messages of a light client to a group: the first one carries the sender key for each member, as clients send it.
import { encodeBinaryNode, proto } from '../sim/network/library.ts'
import { reportingTokenOf } from '../sim/network/people/reporting-token.ts'
import { stanza } from '../sim/network/wire/stanza.ts'
import { jidOf, padded } from './simulator-client.ts'
import type { LightClient } from './simulator-client.ts'

export type GroupFacts = { phone: string; group: string; members: string[] }

export async function sealForGroup(
  client: LightClient,
  { phone, group, members }: GroupFacts,
  count: number,
): Promise<Uint8Array[]> {
  await client.meet(members)
  const key = client.signal.ownSenderKey(group)
  const announcement = { groupId: group, axolotlSenderKeyDistributionMessage: key.distribution() }
  const announced = proto.Message.encode({ senderKeyDistributionMessage: announcement }).finish()
  const participants = members.map((member) => client.sealFor(member, announced))
  return Array.from({ length: count }, (_, index) => {
    const id = `${phone}group${index}`
    const message = {
      conversation: `message ${index}`,
      messageContextInfo: { messageSecret: Buffer.alloc(32, index) },
    }
    const body = key.encrypt(padded(proto.Message.encode(message).finish()))
    const token = reportingTokenOf({ id, sender: jidOf(phone), chat: group, message })
    const content = [
      ...(index === 0 ? [stanza('participants', {}, participants)] : []),
      stanza('enc', { v: '2', type: 'skmsg' }, body),
      stanza('reporting', {}, [stanza('reporting_token', { v: '2' }, token)]),
    ]
    return encodeBinaryNode(stanza('message', { id, to: group, type: 'text', addressing_mode: 'pn' }, content))
  })
}
