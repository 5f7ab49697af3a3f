// Where files may be uploaded, and with which word of admission: asked of the server, and again when that has expired.

import type { Clock } from '../../lib/clock.ts'
import { nodesOf } from '../library/nodes.ts'
import type { Ask } from '../queries/user-sync.ts'

export type Admission = { hosts: string[]; auth: string }
type Known = { admission: Promise<Admission & { ttlMs: number }>; since: number }

export class MediaHosts {
  readonly #ask: Ask
  readonly #clock: Clock
  #known: Known | undefined

  constructor(ask: Ask, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  async get(): Promise<Admission> {
    const known = (this.#known ??= { admission: this.#fetch(), since: this.#clock.monotonic() })
    const admission = await known.admission.catch((cause: unknown) => {
      this.forget(known)
      throw cause
    })
    if (this.#clock.monotonic() - known.since < admission.ttlMs) return admission
    this.forget(known)
    return this.get()
  }

  forget(known = this.#known): void {
    if (this.#known === known) this.#known = undefined
  }

  async #fetch(): Promise<Admission & { ttlMs: number }> {
    const answer = await this.#ask({ xmlns: 'w:m', type: 'set' }, { tag: 'media_conn', attrs: {} })
    const [connection] = nodesOf(answer, 'media_conn')
    const hosts = connection ? nodesOf(connection, 'host').flatMap(({ attrs }) => attrs['hostname'] ?? []) : []
    const { auth = '', ttl } = connection?.attrs ?? {}
    if (hosts.length === 0) throw new Error('the network named no host for files')
    return { hosts, auth, ttlMs: Math.max(Number(ttl) || 0, 1) * 1000 }
  }
}
