// Looks at a posted message when no callback followed it. Chatwoot calls the service for every message that the service posts.
// If Chatwoot cannot, it marks the message as failed. The next post into that conversation would notice it, but after the
// first message of a new set-up there may be no next post.

import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { DestinationKey } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { LostCallbacks } from './lost-callbacks.ts'

type Post = { destination: Destination; helpdesk: Pick<HelpdeskInbox, 'findConversation'>; conversationId: number }
type Deps = { callbacks: Pick<LostCallbacks, 'hasHeardSince' | 'noteSign'>; clock: Clock; log: Log }

/** Chatwoot gives up a callback after 10 s. */
const awaitedMs = 15_000
/** A Chatwoot without a webhook address never calls. It is not asked after every message. */
const lookAgainMs = 5 * 60_000
const maxDestinations = 10_000

export class AwaitedCallbacks {
  readonly #deps: Deps
  /** The first post to each destination that is not followed by a callback yet. */
  readonly #posts = new Map<DestinationKey, Post & { at: number }>()
  readonly #looked: BoundedMap<true>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#looked = new BoundedMap({ clock: deps.clock, max: maxDestinations, ttlMs: lookAgainMs })
  }

  /** The callback may have come before the answer to the POST, which took `tookMs`. */
  posted(post: Post, tookMs: number): void {
    const { callbacks, clock } = this.#deps
    const { key } = post.destination
    const earlier = this.#posts.get(key)
    const isAwaited = earlier !== undefined && !callbacks.hasHeardSince(key, earlier.at)
    if (!isAwaited && !this.#looked.has(key)) this.#posts.set(key, { ...post, at: clock.now() - tookMs })
  }

  /** A ticker calls it every few seconds. The looks go on in the background: a stop does not wait for them. */
  run(): void {
    const { callbacks, clock } = this.#deps
    for (const [key, post] of [...this.#posts]) {
      if (clock.now() - post.at < awaitedMs) continue
      this.#posts.delete(key)
      if (!callbacks.hasHeardSince(key, post.at)) void this.#look(post)
    }
  }

  /** A failure is only logged: the delivery of messages handles a helpdesk that does not answer. */
  async #look({ destination, helpdesk, conversationId }: Post): Promise<void> {
    const { callbacks, log } = this.#deps
    this.#looked.set(destination.key, true)
    try {
      const found = await helpdesk.findConversation(conversationId)
      if (found?.callbackSign) callbacks.noteSign(destination, found.callbackSign)
    } catch (err) {
      log.debug({ err, destination: destination.key }, 'a posted message could not be looked at')
    }
  }
}
