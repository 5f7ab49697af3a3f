// Reads from a stanza that a person types, records or stops.

import { parseChat } from '../../core/address.ts'
import type { TypingNotice } from '../../core/realtime.ts'
import type { BinaryNode } from '../library/library.ts'
import { addressOf, personOf } from '../decode/origin.ts'

const states: Readonly<Record<string, TypingNotice['state']>> = { composing: 'typing', paused: 'off' }

/** Of a `<chatstate>`. Undefined if the stanza names no chat, no person or an unknown state. */
export function readTyping({ attrs, content }: BinaryNode): TypingNotice | undefined {
  const [child] = Array.isArray(content) ? content : []
  const state = states[child?.tag ?? '']
  if (!child || !state) return undefined
  const { from = '', participant } = attrs
  const source = parseChat(addressOf(from))
  if (!source) return undefined
  const who =
    source.kind === 'group'
      ? personOf(participant, attrs['participant_pn'], attrs['participant_lid'])
      : personOf(from, attrs['sender_pn'], attrs['sender_lid'])
  if (!who) return undefined
  const chat = source.kind === 'group' ? source : { kind: 'person' as const, ...who }
  return { chat, who, state: state === 'typing' && child.attrs['media'] === 'audio' ? 'recording' : state }
}

/** Of a `<presence>`: a person who goes offline has stopped typing. */
export function readOffline({ attrs }: BinaryNode): TypingNotice | undefined {
  const who = attrs['type'] === 'unavailable' ? personOf(attrs['from']) : undefined
  return who && { chat: { kind: 'person', ...who }, who, state: 'off' }
}
