// Notices when a client encrypts two different texts with the same step of a ratchet. A process with stale keys does that, and
// then one of the two texts cannot be opened.

import { OpeningMessage } from '../../../../sim/network/signal/session.ts'
import { Fields } from '../../../../sim/network/signal/protobuf.ts'
import type { LoggedStanza } from '../../../../sim/network/server/stanza-log.ts'
import { allChildren, bytesOf } from '../../../../sim/network/wire/stanza.ts'
import type { Stanza } from '../../../../sim/network/wire/stanza.ts'

const macBytes = 8

export class RatchetSteps {
  /** What each step encrypted: the key is the ratchet key and the counter. */
  readonly #texts = new Map<string, string>()
  /** The ids of messages that used a step of another text. */
  readonly reused: string[] = []

  note({ direction, tag, account, node }: LoggedStanza): void {
    if (direction !== 'in' || tag !== 'message') return
    for (const sealed of sealedParts(node)) this.#add(sealed, `${account ?? 'an unknown account'}: ${node.attrs['id']}`)
  }

  get count(): number {
    return this.#texts.size
  }

  #add(body: Buffer, message: string): void {
    const fields = new Fields(body.subarray(1, -macBytes))
    const step = `${fields.bytes(1).toString('hex')} ${fields.number(2) ?? 0}`
    const text = fields.bytes(4).toString('base64')
    const known = this.#texts.get(step)
    if (known === undefined) this.#texts.set(step, text)
    else if (known !== text) this.reused.push(message)
  }
}

/** The messages for single devices, wherever they are in the stanza. */
function sealedParts(node: Stanza): Buffer[] {
  const own = node.tag === 'enc' ? bytesOf(node) : undefined
  const { type } = node.attrs
  if (own && type === 'pkmsg') return [new OpeningMessage(own).message]
  if (own && type === 'msg') return [own]
  return allChildren(node).flatMap(sealedParts)
}
