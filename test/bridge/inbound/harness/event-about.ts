// A reaction to a message, an edit of it, or its deletion.

import type { MessageEvent, NetworkEvent } from '../../../../src/core/message.ts'

type About = Pick<Extract<NetworkEvent, { kind: 'reaction' | 'edit' | 'revoke' }>, 'kind'>['kind']

/** What the writer of a message does to that message later. */
export function eventAbout(kind: About, { id, chat, sender }: MessageEvent): NetworkEvent {
  const target = { id, chat: '5511988887777@s.whatsapp.net', fromMe: false, participant: null }
  const envelope = { id: `${kind}-${id}`, at: 2000, chat, sender, fromMe: false, pushName: 'Maria', target }
  if (kind === 'reaction') return { ...envelope, kind, emoji: '👍' }
  if (kind === 'revoke') return { ...envelope, kind }
  return { ...envelope, kind, content: { type: 'text', text: 'better' }, mentions: [] }
}
