// Asks the server where the profile picture of a person or a group is.

import type { Jid } from '../../core/ids.ts'
import { NetworkBusyError } from '../../core/realtime.ts'
import type { NoPicture } from '../../core/realtime.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

/** Resolves with the answer of the server, which may be an error. */
type AskPicture = (owner: Jid, content: BinaryNode) => Promise<BinaryNode>

export type PicturePlace = { id: string; url: string | null; directPath: string | null }

/** What an error code of the server says of the picture. */
const noPicture: ReadonlyMap<string, NoPicture> = new Map([
  ['404', 'none'],
  ['401', 'hidden'],
  ['403', 'hidden'],
])
const tooMany = '429'
const defaultPauseMs = 60_000
const longestPauseMs = 3_600_000

/** `tokens` are the privacy tokens of the person. */
export async function askPicture(
  owner: Jid,
  tokens: readonly BinaryNode[],
  ask: AskPicture,
): Promise<PicturePlace | NoPicture> {
  // Chatwoot makes small copies itself. The preview of the network has 96 pixels and looks blurred there.
  const attrs = { type: 'image', query: 'url' }
  const answer = await ask(owner, { tag: 'picture', attrs, ...(tokens.length > 0 && { content: [...tokens] }) })
  const error = childOf(answer, 'error')
  if (error) return afterRefusal(error)
  const { id, url = null, direct_path: directPath = null } = childOf(answer, 'picture')?.attrs ?? {}
  return id === undefined || (url === null && directPath === null) ? 'none' : { id, url, directPath }
}

function afterRefusal({ attrs }: BinaryNode): NoPicture {
  const { code = 'unknown', text, backoff } = attrs
  const none = noPicture.get(code)
  if (none) return none
  if (code === tooMany || text === 'rate-overlimit') {
    const pauseMs = Number(backoff) > 0 ? Math.min(Number(backoff) * 1000, longestPauseMs) : defaultPauseMs
    throw new NetworkBusyError(pauseMs, 'the network does not answer so many questions for pictures')
  }
  throw new Error(`the network does not tell of a picture: code ${code}`)
}
