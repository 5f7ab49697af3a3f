// The client versions that are known: the newest one, the last one that worked, and when the network refused which one.

import type { Clock } from '../../lib/clock.ts'
import type { StoredVersions } from '../../storage/stores/accounts/client-version-store.ts'
import type { WAVersion } from '../library/library.ts'
import { compareVersions, formatVersion, parseVersion } from './version-numbers.ts'

export class KnownVersions {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #library: WAVersion
  #newest: WAVersion
  #worked: WAVersion | null = null
  /** When each candidate was last refused, on the monotonic scale. */
  readonly #refusedAt = new Map<string, number>()

  constructor(library: WAVersion, clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#library = library
    this.#newest = library
  }

  get worked(): WAVersion | null {
    return this.#worked
  }

  /** A version that was never refused, or else the one whose refusal is the longest ago. The newest comes first. */
  get current(): WAVersion {
    const other = this.#worked ?? this.#library
    const refusedAt = (version: WAVersion) => this.#refusedSince(version) ?? -Infinity
    return refusedAt(other) < refusedAt(this.#newest) ? other : this.#newest
  }

  isRefused(version: WAVersion): boolean {
    return this.#refusedSince(version) !== undefined
  }

  /** The network names this version. True when it is taken: it is higher than the ones that may be used. */
  learn(version: WAVersion): boolean {
    // A refused version is no measure: the network may have named it by mistake.
    const highest = this.isRefused(this.#newest) ? (this.#worked ?? this.#library) : this.#newest
    if (compareVersions(version, highest) <= 0 || compareVersions(version, this.#newest) === 0) return false
    this.#newest = version
    this.#forgetOthers()
    return true
  }

  /** A login succeeded with this version. True when this is news. */
  noteWorked(version: WAVersion): boolean {
    const wasRefused = this.#refusedAt.delete(formatVersion(version))
    const isSame = this.#worked !== null && compareVersions(version, this.#worked) === 0
    this.#worked = version
    this.#forgetOthers()
    return wasRefused || !isSame
  }

  noteRefused(version: WAVersion): void {
    this.#refusedAt.set(formatVersion(version), this.#clock.monotonic())
    this.#forgetOthers()
  }

  /** The library may be newer than what was stored. */
  restore({ newest, worked, refused }: StoredVersions): void {
    const stored = parseVersion(newest)
    if (stored && compareVersions(stored, this.#newest) > 0) this.#newest = stored
    // A login may have succeeded before the stored versions could be read.
    this.#worked ??= (worked === null ? null : parseVersion(worked)) ?? null
    if (refused !== null) this.#refusedAt.set(refused, this.#clock.monotonic())
    this.#forgetOthers()
  }

  toStored(): StoredVersions {
    const newest = formatVersion(this.#newest)
    return {
      newest,
      worked: this.#worked && formatVersion(this.#worked),
      refused: this.isRefused(this.#newest) ? newest : null,
    }
  }

  #refusedSince(version: WAVersion): number | undefined {
    return this.#refusedAt.get(formatVersion(version))
  }

  /** Only refusals of versions that may be used again are remembered. */
  #forgetOthers(): void {
    const kept = new Set([this.#newest, this.#worked ?? this.#library].map(formatVersion))
    for (const version of this.#refusedAt.keys()) if (!kept.has(version)) this.#refusedAt.delete(version)
  }
}
