// The nodes that a phone sends beside the ciphertexts: what kind of poll it is, the reporting token, the proof of its identity.
import type { proto } from '../library.ts'
import { allChildren, stanza, type Stanza } from '../wire/stanza.ts'
import { reportingTokenOf } from './reporting-token.ts'
import { unwrap } from './received-message.ts'

type Sent = { id: string; sender: string; chat: string; message: proto.IMessage }

/** `prove` makes the proof that the sending device belongs to its owner. The primary device needs none. */
export function attachedNodes(sent: Sent, sealed: readonly Stanza[], prove?: () => Uint8Array): Stanza[] {
  const nodes: Stanza[] = []
  const { pollUpdateMessage, pollCreationMessageV3 } = unwrap(sent.message)
  if (pollUpdateMessage ?? pollCreationMessageV3) {
    nodes.push(stanza('meta', { polltype: pollUpdateMessage ? 'vote' : 'creation' }))
  }
  const token = reportingTokenOf(sent)
  if (token) nodes.push(stanza('reporting', {}, [stanza('reporting_token', { v: '2' }, token)]))
  if (prove && opensSession(sealed)) nodes.push(stanza('device-identity', {}, prove()))
  return nodes
}

function opensSession(sealed: readonly Stanza[]): boolean {
  return sealed.some((node) => node.attrs.type === 'pkmsg' || opensSession(allChildren(node)))
}
