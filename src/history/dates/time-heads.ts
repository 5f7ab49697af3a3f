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
  /** SERVICE_LOCALE */
  locale: Locale
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
  async headOf(destination: Destination, at: number): Promise<string | null> {
    const { database } = this.#deps
    if (database?.serves(destination)) return null
    const write = await this.#formatOf(destination)
    return `\`${write(at)}\``
  }

  #formatOf(destination: Destination): Promise<PastTimeFormat> {
    const known = this.#formats.get(destination.key)
    if (known) return known
    const asked = this.#ask(destination)
    this.#formats.set(destination.key, asked)
    // A failure is not an answer: the next caller asks again.
    asked.catch(() => {
      if (this.#formats.get(destination.key) === asked) this.#formats.delete(destination.key)
    })
    return asked
  }

  async #ask(destination: Destination): Promise<PastTimeFormat> {
    const { downstream, locale } = this.#deps
    return pastTimeFormat(await downstream.helpdesk(destination).timeZone(), locale)
  }
}
