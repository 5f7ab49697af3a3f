// Finds the profile pictures of people and groups, and fetches them from the network's own hosts.

import { buffer } from 'node:stream/consumers'
import { chatJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { FileError } from '../../core/network.ts'
import type { NoPicture, ProfilePicture } from '../../core/realtime.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode } from '../library/library.ts'
import { askPicture } from '../queries/picture-question.ts'
import type { PicturePlace } from '../queries/picture-question.ts'
import type { ServerQueries } from '../queries/server-queries.ts'
import { fileUrl, openUrl } from './download.ts'
import type { FileSource } from './download.ts'

type Deps = {
  queries: Pick<ServerQueries, 'query'>
  /** The privacy tokens that a question about this person carries. */
  tokensFor: (owner: Jid) => Promise<readonly BinaryNode[]>
  source: FileSource
  clock: Clock
  gone: AbortSignal
}

/** The network's own pictures have at most 640 pixels and 200 KB. */
const largestBytes = 5 * 1024 * 1024
const fetchMs = 30_000

export class ProfilePictures {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A person is asked for by phone number, if it is known, else by LID. */
  async find(owner: Chat): Promise<ProfilePicture | NoPicture> {
    const { queries, tokensFor } = this.#deps
    const jid = chatJid(owner)
    const tokens = owner.kind === 'person' ? await tokensFor(jid) : []
    const place = await askPicture(jid, tokens, (target, content) =>
      queries.query({ xmlns: 'w:profile:picture', type: 'get', target }, content),
    )
    return typeof place === 'string' ? place : { id: place.id, read: () => this.#read(place) }
  }

  async #read(place: PicturePlace): Promise<Buffer> {
    const { source, clock, gone } = this.#deps
    const late = new AbortController()
    const cancel = clock.after(fetchMs, () => {
      late.abort(new FileError(false, `a picture did not arrive within ${fetchMs / 1000} s`))
    })
    try {
      const signal = AbortSignal.any([gone, late.signal])
      const body = await openUrl(fileUrl(place, source), source, signal)
      return await buffer(limited(body))
    } finally {
      cancel()
    }
  }
}

/** Ends the stream as soon as it is too long. */
async function* limited(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > largestBytes) throw new FileError(false, 'the picture is too large')
    yield chunk
  }
}
