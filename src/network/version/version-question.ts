// Asks the network for its newest client version: one question at a time, and only the first of several failures is logged.

import type { Agent } from 'node:https'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Log } from '../../lib/log.ts'
import { defaultVersion } from '../library/library.ts'
import type { WAVersion } from '../library/library.ts'
import type { VersionPage } from './version-page.ts'
import { findRevision } from './version-numbers.ts'

type Deps = {
  page: Pick<VersionPage, 'read'>
  clock: Clock
  log: Log
  /** Aborts when the process ends. */
  stop: AbortSignal
  onAnswer: (version: WAVersion) => Promise<void>
}

type Circumstances = { isCurrent: boolean; agent: Agent | undefined }

/** After a refusal the service asks once. Later refusals of the same version use that answer for this long. */
const answerServesMs = 60_000

export class VersionQuestion {
  readonly #deps: Deps
  #asking: Promise<void> | undefined
  /** The last question that a refusal caused. */
  #caused: { version: string; at: number; answered: Promise<void> } | undefined
  #answeredAt: number | null = null
  #isFailing = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** When the network last answered; epoch milliseconds. */
  get answeredAt(): number | null {
    return this.#answeredAt
  }

  /** Joins a question that is under way. `agent` is a proxy instead of the usual one. Rejects when there is no answer. */
  ask(agent?: Agent): Promise<void> {
    this.#asking ??= this.#readPage(agent).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /**
   * Many accounts are refused together: one question serves all of them. `isCurrent` is false when the version is no longer
   * in use; then no question is asked. `agent` is the proxy of the refused connection. Never rejects.
   */
  async askBecauseOf(refused: string, { isCurrent, agent }: Circumstances): Promise<void> {
    const { clock, log } = this.#deps
    const at = clock.monotonic()
    const isAsked = this.#caused?.version === refused && at - this.#caused.at < answerServesMs
    if (isCurrent && !isAsked) {
      log.warn({ version: refused }, 'the network refuses this client version')
      this.#caused = { version: refused, at, answered: this.#askAnew(agent) }
    }
    if (this.#caused?.version === refused) await this.#caused.answered
  }

  /** For a question that failed. */
  onFailure(err: unknown): void {
    const { log, stop } = this.#deps
    if (this.#isFailing || stop.aborted) return
    this.#isFailing = true
    log.warn({ err }, 'the newest client version could not be asked for; the known one stays in use')
  }

  /** A question that is under way was asked before the refusal, so its answer may be too old. */
  async #askAnew(agent: Agent | undefined): Promise<void> {
    await this.#asking?.catch(ignoreRejection)
    await this.ask(agent).catch(this.onFailure.bind(this))
  }

  async #readPage(agent: Agent | undefined): Promise<void> {
    const { page, clock, stop, onAnswer } = this.#deps
    const found = findRevision(await page.read(stop, agent))
    if (found === undefined) throw new Error('the page of the network names no client version')
    this.#answeredAt = clock.now()
    this.#isFailing = false
    await onAnswer([defaultVersion[0], defaultVersion[1], found])
  }
}
