// Makes sure that agents see a label: Chatwoot shows only labels that the account has.

import { accountPlace } from '../../../core/downstream.ts'
import type { Downstream } from '../../../core/downstream.ts'
import type { AccountAccess } from '../../../core/helpdesk/helpdesk-account.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'

type Deps = { downstream: Pick<Downstream, 'account'>; clock: Clock; log: Log }

/** How long the labels of an account are not asked for again, and how long a refused label is not tried again. */
const trustedMs = 10 * 60_000
const maxAccounts = 1000

export class AccountTitles {
  readonly #deps: Deps
  readonly #titles: BoundedMap<Set<string>>
  readonly #refused: BoundedMap<true>
  readonly #logged = new Set<string>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#titles = new BoundedMap({ clock: deps.clock, max: maxAccounts, ttlMs: trustedMs })
    this.#refused = new BoundedMap({ clock: deps.clock, max: maxAccounts, ttlMs: trustedMs })
  }

  /** False when the account does not have the label and the service may not create it. */
  async ensure(access: AccountAccess, title: string): Promise<boolean> {
    const place = accountPlace(access)
    if (this.#titles.get(place)?.has(title)) return true
    if (this.#refused.has(`${place}|${title}`)) return false
    const account = this.#deps.downstream.account(access)
    const titles = new Set(await account.labels())
    this.#titles.set(place, titles)
    if (!titles.has(title) && !(await account.createLabel(title))) {
      this.#refuse(place, title)
      return false
    }
    titles.add(title)
    return true
  }

  #refuse(place: string, title: string): void {
    this.#refused.set(`${place}|${title}`, true)
    if (this.#logged.has(place)) return
    this.#logged.add(place)
    const advice = 'create the labels in Chatwoot, or set the token of an administrator'
    this.#deps.log.warn({ account: place, advice }, 'labels of WhatsApp are not shown: the account does not have them')
  }
}
