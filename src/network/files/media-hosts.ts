// Knows the hosts that take uploads and the token that they ask for. Asks the server again when the token has expired.

import type { Clock } from '../../lib/clock.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import type { Ask } from '../queries/user-sync.ts'

type MediaAccess = { hosts: string[]; auth: string }
type Known = { access: Promise<MediaAccess & { ttlMs: number }>; since: number }

export class MediaHosts {
  readonly #ask: Ask
  readonly #clock: Clock
  #known: Known | undefined

  constructor(ask: Ask, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  async get(): Promise<MediaAccess> {
    const known = (this.#known ??= { access: this.#fetch(), since: this.#clock.monotonic() })
    const access = await known.access.catch((cause: unknown) => {
      this.forget(known)
      throw cause
    })
    if (this.#clock.monotonic() - known.since < access.ttlMs) return access
    this.forget(known)
    return this.get()
  }

  forget(known = this.#known): void {
    if (this.#known === known) this.#known = undefined
  }

  async #fetch(): Promise<MediaAccess & { ttlMs: number }> {
    const answer = await this.#ask({ xmlns: 'w:m', type: 'set' }, { tag: 'media_conn', attrs: {} })
    const connection = childOf(answer, 'media_conn')
    const hosts = connection ? childrenOf(connection, 'host').flatMap(({ attrs }) => attrs['hostname'] ?? []) : []
    const { auth = '', ttl } = connection?.attrs ?? {}
    if (hosts.length === 0) throw new Error('the network named no host for files')
    return { hosts, auth, ttlMs: Math.max(Number(ttl) || 0, 1) * 1000 }
  }
}
