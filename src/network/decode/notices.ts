// Decodes stanzas that belong to a chat but are not encrypted messages: calls, group changes, withheld messages.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import type { CallEvent, GroupEvent, NetworkEvent } from '../../core/message.ts'
import { jidNormalizedUser } from '../library/library.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import { changesOf } from './group-changes.ts'
import { originOf, personOf, timeOf } from './origin.ts'
import type { Origin } from './origin.ts'

type Deps = { own: Person; now: () => number }

// The library does not ask for these messages again, nor for messages sealed for bots (msmsg).
const neverAsked = new Set(['bot_unavailable_fanout', 'hosted_unavailable_fanout'])
/** The library does not ask for older messages. */
const longestAskedMs = 14 * 86_400_000

/** The event for a message without readable content: its content stays on the phone, or it has no keys for us. */
export function withheldEvent({ envelope }: Origin, stanza: BinaryNode, now: number): NetworkEvent {
  const unavailable = childOf(stanza, 'unavailable')
  const type = unavailable?.attrs['type'] ?? ''
  if (type.startsWith('view_once')) {
    const content = { type: 'view_once' as const, media: null }
    return { ...envelope, kind: 'message', content, quote: null, mentions: [], ad: null, secret: null }
  }
  const sealed = childOf(stanza, 'enc')
  const reason = unavailable ? `unavailable ${type}`.trim() : (sealed?.attrs['type'] ?? 'no content')
  const isTooOld = !sealed && now - envelope.at > longestAskedMs
  const isAwaited = !isTooOld && !neverAsked.has(type) && reason !== 'msmsg'
  return { ...envelope, kind: 'undecryptable', reason, ...(!isAwaited && { isAwaited }) }
}

export type CallNotice = { callId: string; state: 'rings' | 'missed' | 'answered' | 'other'; event: CallEvent }

/** Undefined when the stanza does not name the caller. */
export function callNotice({ attrs, content }: BinaryNode, { own, now }: Deps): CallNotice | undefined {
  const [info] = Array.isArray(content) ? content : []
  const callId = info?.attrs['call-id']
  if (!info || callId === undefined) return undefined
  const sender = personOf(info.attrs['call-creator'], attrs['from'], info.attrs['caller_pn'], info.attrs['caller_lid'])
  if (!sender) return undefined
  const video = childOf(info, 'video') !== undefined
  const chat = groupOf(info.attrs['group-jid']) ?? { kind: 'person' as const, ...sender }
  const fromMe = sender.phone === own.phone || (sender.lid !== null && sender.lid === own.lid)
  const common = { id: callId, at: timeOf(attrs, now), chat, sender, fromMe, pushName: attrs['notify'] ?? null }
  const state = stateOf(info)
  const caller = fromMe ? undefined : rejectableCaller(attrs, info)
  const event = { ...common, kind: 'call' as const, video, missed: state === 'missed' }
  return { callId, state, event: { ...event, ...(caller !== undefined && { caller }) } }
}

/** The address of the caller when the call rings at this account alone; undefined for a call that waited on the server. */
function rejectableCaller(attrs: BinaryNode['attrs'], info: BinaryNode): Jid | undefined {
  const isGroup = info.attrs['group-jid'] !== undefined || info.attrs['type'] === 'group'
  if (info.tag !== 'offer' || isGroup || attrs['offline'] !== undefined) return undefined
  return jidNormalizedUser(info.attrs['call-creator'] ?? attrs['from'])
}

function stateOf({ tag, attrs }: BinaryNode): CallNotice['state'] {
  if (tag === 'offer' || tag === 'offer_notice') return 'rings'
  if (tag === 'accept' || tag === 'reject') return 'answered'
  if (tag !== 'terminate') return 'other'
  // These reasons mean that another device of the owner took or refused the call.
  return /elsewhere|^(accepted|rejected|declined)/.test(attrs['reason'] ?? '') ? 'answered' : 'missed'
}

function groupOf(jid: string | undefined) {
  const chat = jid === undefined ? undefined : parseChat(jid)
  return chat?.kind === 'group' ? chat : undefined
}

/** Undefined for notifications that are not about a group. */
export function groupEvent(stanza: BinaryNode, deps: Deps): GroupEvent | undefined {
  const { attrs } = stanza
  const isGroup = (attrs['from'] ?? '').endsWith('@g.us')
  if (!isGroup || (attrs['type'] !== 'w:gp2' && attrs['type'] !== 'picture')) return undefined
  const author = attrs['participant'] ?? childrenOf(stanza)[0]?.attrs['author']
  // Some changes have no author, e.g. those that the server made.
  const named = author === undefined ? attrs : { ...attrs, participant: author }
  const changes = changesOf(stanza, personOf(author))
  const origin = originOf({ ...stanza, attrs: named }, deps) ?? anonymous(attrs, deps)
  return origin && changes.length > 0 ? { ...origin.envelope, kind: 'group', changes } : undefined
}

function anonymous(attrs: BinaryNode['attrs'], { now }: Deps): Pick<Origin, 'envelope'> | undefined {
  const chat = groupOf(attrs['from'])
  if (!chat) return undefined
  const sender = { phone: null, lid: null }
  return { envelope: { id: attrs['id'] ?? '', at: timeOf(attrs, now), chat, sender, fromMe: false, pushName: null } }
}
