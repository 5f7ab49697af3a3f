// Dashboard sessions. What they are is in the signed value of the cookie; this part stores only those that were ended early.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'

export type DashboardSession = {
  id: string
  /** When the value of the cookie was written; every renewal moves it. */
  issuedAt: number
}

type Deps = { key: Buffer; clock: Clock }

/** A session ends so long after its last renewal. */
export const sessionMs = 12 * 3_600_000
/** A younger cookie is not renewed: not every answer needs a new one. */
const renewAfterMs = 15 * 60_000
/** A cookie from further ahead was written while the clock was wrong. It could otherwise be valid for years. */
const mostAheadMs = 5 * 60_000
/** Only a person who is signed in can end a session, so a caller without the token cannot fill the list. */
const mostEnded = 10_000

const form = /^v1\.(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/

export class DashboardSessions {
  readonly #key: Buffer
  readonly #clock: Clock
  /** The ids of sessions that were ended before their time. After a restart their cookies count again. */
  readonly #ended: BoundedMap<true>
  /** What must end with a session, by its id. */
  readonly #watchers = new Map<string, Set<() => void>>()

  constructor({ key, clock }: Deps) {
    this.#key = key
    this.#clock = clock
    this.#ended = new BoundedMap({ clock, max: mostEnded, ttlMs: sessionMs + mostAheadMs })
  }

  start(): DashboardSession {
    return { id: randomBytes(16).toString('base64url'), issuedAt: this.#clock.now() }
  }

  /** Undefined for every value that is not a session of today. */
  parse(value: string): DashboardSession | undefined {
    const [, issued, id, mark] = form.exec(value) ?? []
    if (issued === undefined || id === undefined || mark === undefined) return undefined
    if (!timingSafeEqual(Buffer.from(mark), Buffer.from(this.#mark(`v1.${issued}.${id}`)))) return undefined
    const session = { id, issuedAt: Number(issued) }
    const age = this.#clock.now() - session.issuedAt
    return age < sessionMs && age >= -mostAheadMs && !this.#ended.has(id) ? session : undefined
  }

  format({ id, issuedAt }: DashboardSession): string {
    const text = `v1.${issuedAt}.${id}`
    return `${text}.${this.#mark(text)}`
  }

  /** Undefined while the session is young. */
  renew({ id, issuedAt }: DashboardSession): DashboardSession | undefined {
    const now = this.#clock.now()
    return now - issuedAt < renewAfterMs ? undefined : { id, issuedAt: now }
  }

  end({ id }: DashboardSession): void {
    this.#ended.set(id, true)
    for (const over of [...(this.#watchers.get(id) ?? [])]) over()
  }

  /** Calls `over` when the session ends at its time or before; returns how to stop. A renewal does not postpone it. */
  watch({ id, issuedAt }: DashboardSession, over: () => void): () => void {
    const watchers = getOrCreate(this.#watchers, id, () => new Set())
    // A function of its own: the same one may be given twice.
    const watcher = () => {
      over()
    }
    watchers.add(watcher)
    const cancel = this.#clock.after(issuedAt + sessionMs - this.#clock.now(), watcher)
    return () => {
      cancel()
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(id)
    }
  }

  #mark(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}
