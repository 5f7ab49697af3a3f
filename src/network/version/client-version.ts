// Chooses the client version that connections introduce themselves with, and learns newer ones from the network.
//
// A pinned version is always used, and the network is not asked. Otherwise there are two candidates: the newest known version
// and the last version that worked. The newest is used until the network refuses it; then the other one is used. When the
// network refuses both, it is asked for a newer one at each refusal, and the two are tried in turn. Of several nodes the first one
// asks every day and stores the answer; the others read it.

import type { Agent } from 'node:https'
import type { ClientVersionState } from '../../core/network.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { ClientVersionStore } from '../../storage/stores/accounts/client-version-store.ts'
import { defaultVersion } from '../library/library.ts'
import type { WAVersion } from '../library/library.ts'
import { KnownVersions } from './known-versions.ts'
import { formatVersion } from './version-numbers.ts'
import type { VersionPage } from './version-page.ts'
import { VersionQuestion } from './version-question.ts'

type Deps = {
  /** The three numbers of the version that the operator sets. Empty: the service chooses the version. */
  pinned: readonly string[]
  page: Pick<VersionPage, 'read'>
  store: Pick<ClientVersionStore, 'find' | 'save'>
  duties: Pick<Duties, 'isFirst'>
  clock: Clock
  log: Log
}

/** The version that one connection uses, with what to do when the network has taken or refused it. */
export type VersionInUse = {
  numbers: WAVersion
  worked(): void
  /** Resolves when it is known whether another attempt can succeed. `agent` is the proxy of the connection. Never rejects. */
  refused(agent?: Agent): Promise<Refusal>
}

/** `another`: a version that was not refused is used next. `none`: the network refuses all versions that are known. */
export type Refusal = 'another' | 'none' | 'pinned'

const day = 86_400_000
/** How often a node reads what the first node has stored. */
const readAgainMs = 3_600_000
const pauses = { firstMs: 60_000, ceilingMs: 6 * 3_600_000 }

export class ClientVersion {
  readonly #deps: Deps
  readonly #pinned: WAVersion | undefined
  readonly #known: KnownVersions
  readonly #question: VersionQuestion
  readonly #stop = new AbortController()
  #isPinRefused = false
  #isLoaded = false
  #loading: Promise<void> | undefined
  #following: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#pinned = deps.pinned.length === 3 ? (deps.pinned.map(Number) as WAVersion) : undefined
    this.#known = new KnownVersions(defaultVersion, deps.clock)
    const { page, clock, log } = deps
    const onAnswer = this.#learn.bind(this)
    this.#question = new VersionQuestion({ page, clock, log, stop: this.#stop.signal, onAnswer })
  }

  get state(): ClientVersionState {
    const { worked } = this.#known
    const current = this.#pinned ?? this.#known.current
    return {
      current: formatVersion(current),
      worked: worked && formatVersion(worked),
      isPinned: this.#pinned !== undefined,
      isRefused: this.#pinned ? this.#isPinRefused : this.#known.isRefused(current),
      askedAt: this.#question.answeredAt,
    }
  }

  /** Asks now, and then every day. The caller does not wait for the answer. */
  start(): void {
    if (!this.#pinned) this.#following ??= this.#follow()
  }

  /** The version for the next connection. */
  async take(): Promise<VersionInUse> {
    await this.#load()
    const numbers = this.#pinned ?? this.#known.current
    return {
      numbers,
      worked: () => {
        this.#worked(numbers)
      },
      refused: (agent) => this.#refused(numbers, agent),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#following
  }

  async #follow(): Promise<void> {
    const { duties, clock } = this.#deps
    const { signal } = this.#stop
    let askedAt = -Infinity
    while (!signal.aborted) {
      if (!duties.isFirst()) await this.#readStored()
      else if (clock.monotonic() - askedAt >= day) {
        await this.#ask()
        askedAt = clock.monotonic()
      }
      await sleep(clock, readAgainMs, signal)
    }
  }

  async #ask(): Promise<void> {
    const onFailure = this.#question.onFailure.bind(this.#question)
    await retryUntil({ clock: this.#deps.clock, signal: this.#stop.signal, pauses, onFailure }, () =>
      this.#question.ask(),
    )
  }

  async #learn(version: WAVersion): Promise<void> {
    await this.#load()
    if (!this.#known.learn(version)) return
    this.#deps.log.info({ version: formatVersion(version) }, 'the network names a newer client version')
    void this.#save()
  }

  #worked(version: WAVersion): void {
    this.#isPinRefused = false
    if (!this.#pinned && this.#known.noteWorked(version)) void this.#save()
  }

  async #refused(version: WAVersion, agent: Agent | undefined): Promise<Refusal> {
    if (this.#pinned) {
      this.#isPinRefused = true
      return 'pinned'
    }
    if (!this.#deps.duties.isFirst()) await this.#readStored()
    // Another account may have changed the version since this connection began.
    const isCurrent = formatVersion(version) === formatVersion(this.#known.current)
    this.#known.noteRefused(version)
    await this.#question.askBecauseOf(formatVersion(version), { isCurrent, agent })
    void this.#save()
    return this.#known.isRefused(this.#known.current) ? 'none' : 'another'
  }

  /** A version that cannot be read is learnt again. */
  async #load(): Promise<void> {
    if (this.#isLoaded) return
    this.#loading ??= this.#readStored().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  async #readStored(): Promise<void> {
    try {
      const stored = await this.#deps.store.find()
      if (stored) this.#known.restore(stored)
      this.#isLoaded = true
    } catch (err) {
      this.#deps.log.warn({ err }, 'the stored client version could not be read')
    }
  }

  /** A stored version that could not be read is not overwritten. */
  async #save(): Promise<void> {
    if (!this.#isLoaded || this.#stop.signal.aborted || !this.#deps.duties.isFirst()) return
    await this.#deps.store.save(this.#known.toStored()).catch((err: unknown) => {
      if (!this.#stop.signal.aborted) this.#deps.log.warn({ err }, 'the client version could not be stored')
    })
  }
}
