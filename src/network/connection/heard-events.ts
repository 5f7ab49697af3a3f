// Keeps the library from announcing every stanza under about twenty names to which no part listens.
//
// The library puts all attributes of a stanza into such names, so most names are new, long and used once. To look one up, it must
// be copied and hashed. A name that is longer than all names with a listener for stanzas of its tag needs no look.

import { EventEmitter } from 'node:events'
import type { WASocket } from '../library/library.ts'

const prefix = 'CB:'
/** The length of the longest name with a listener, by the tag of the stanza. For all connections, because they listen alike. */
const longest = new Map<string, number>()

export function announceWhatIsHeard(ws: WASocket['ws']): void {
  ws.eventNames().forEach(noteListener)
  ws.on('newListener', noteListener)
  Object.assign(ws, { emit: emitIfHeard })
}

function noteListener(event: string | symbol): void {
  if (typeof event !== 'string' || !event.startsWith(prefix)) return
  const [tag = ''] = event.slice(prefix.length).split(',', 1)
  longest.set(tag, Math.max(longest.get(tag) ?? 0, event.length))
}

function emitIfHeard(this: EventEmitter, event: string, ...args: unknown[]): boolean {
  const [stanza] = args as [{ tag?: unknown } | undefined]
  if (typeof stanza?.tag === 'string' && event.length > (longest.get(stanza.tag) ?? 0) && event.startsWith(prefix)) {
    return false
  }
  return EventEmitter.prototype.emit.call(this, event, ...args)
}
