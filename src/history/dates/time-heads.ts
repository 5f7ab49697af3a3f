// Says when an imported message was written, for the head of its text. Where the database of the helpdesk is not corrected, the
// helpdesk itself shows the time of the import.

import type { Destination, Downstream } from '../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { Locale } from '../../core/reasons/sentences.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { pastTimeFormat } from './past-time.ts'

type Deps = {
  /** Null without DOWNSTREAM_DB_URL. */
  database: Pick<HelpdeskDatabase, 'serves'> | null
  downstream: Pick<Downstream, 'helpdesk'>
  clock: Clock
}

type PastTimeFormat = ReturnType<typeof pastTimeFormat>

/** Agents see another time zone in new messages at most this long after it was changed. */
const zoneMs = 3_600_000

export class TimeHeads {
  readonly #deps: Deps
  readonly #formats: BoundedMap<Promise<PastTimeFormat>>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#formats = new BoundedMap({ clock: deps.clock, max: 1000, ttlMs: zoneMs })
  }

  /** Null where the date itself is corrected. Rejects with a DownstreamError when the helpdesk does not tell its time zone. */
  async headOf(destination: Destination, at: number, locale: Locale): Promise<string | null> {
    const { database } = this.#deps
    if (database?.serves(destination)) return null
    const write = await this.#formatOf(destination, locale)
    return `\`${write(at)}\``
  }

  #formatOf(destination: Destination, locale: Locale): Promise<PastTimeFormat> {
    const key = `${locale}|${destination.key}`
    const known = this.#formats.get(key)
    if (known) return known
    const asked = this.#ask(destination, locale)
    this.#formats.set(key, asked)
    // A failure is not an answer: the next caller asks again.
    asked.catch(() => {
      if (this.#formats.get(key) === asked) this.#formats.delete(key)
    })
    return asked
  }

  async #ask(destination: Destination, locale: Locale): Promise<PastTimeFormat> {
    return pastTimeFormat(await this.#deps.downstream.helpdesk(destination).timeZone(), locale)
  }
}
