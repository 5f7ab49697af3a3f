// Remembers what is broken in the set-up, for health, and logs each change once.
//
// A check that could not be made says nothing new: its last finding stays.

import { accessKey, inboxPlace } from '../../core/downstream.ts'
import type { InboxAccess } from '../../core/downstream.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { Log } from '../../lib/log.ts'
import type { CheckName, Finding } from './finding.ts'

/** What is checked: a helpdesk inbox, or the process. `key` tells apart two accesses to one place. */
export type CheckedPart = { key: string; destination: string | null }

/** `destination` is null for the process. */
export type SetupProblem = {
  destination: string | null
  name: CheckName
  sentence: string
  cure: string
  since: number
}
type Known = SetupProblem & { result: 'advice' | 'broken' }
type Deps = { clock: Pick<Clock, 'now'>; log: Log }

export const processPart: CheckedPart = { key: 'process', destination: null }

export function destinationPart(access: InboxAccess): CheckedPart {
  return { key: accessKey(access), destination: inboxPlace(access) }
}

export class SetupFindings {
  readonly #deps: Deps
  readonly #known = new Map<string, Map<CheckName, Known>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What is broken. Advice is not listed. */
  list(): SetupProblem[] {
    const all = [...this.#known.values()].flatMap((part) => [...part.values()])
    const broken = all.filter(({ result }) => result === 'broken')
    return broken.map(({ destination, name, sentence, cure, since }) => ({ destination, name, sentence, cure, since }))
  }

  /** The keys of the parts in which something is broken. */
  brokenKeys(): Set<string> {
    const broken = [...this.#known].filter(([, part]) => [...part.values()].some(({ result }) => result === 'broken'))
    return new Set(broken.map(([key]) => key))
  }

  note(part: CheckedPart, findings: readonly Finding[]): void {
    const known = getOrCreate(this.#known, part.key, () => new Map<CheckName, Known>())
    for (const finding of findings) this.#noteOne(part, known, finding)
  }

  /** Drops the parts that are no longer checked. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const [key, problems] of [...this.#known]) {
      if (keys.has(key)) continue
      this.#known.delete(key)
      for (const { destination, name } of problems.values()) {
        this.#deps.log.info({ destination, check: name }, 'a check of the set-up is no longer needed')
      }
    }
  }

  #noteOne({ destination }: CheckedPart, known: Map<CheckName, Known>, finding: Finding): void {
    const { clock, log } = this.#deps
    const { name, result, sentence, cure } = finding
    if (result === 'untested') return
    const before = known.get(name)
    if (result === 'ok') {
      if (known.delete(name)) log.info({ destination, check: name, sentence }, 'a check of the set-up passes again')
      return
    }
    const since = before?.since ?? clock.now()
    known.set(name, { destination, name, result, sentence, cure: cure ?? '', since })
    // Sentences have numbers that change all the time. Another cure means another problem.
    if (before?.result === result && before.cure === cure) return
    const facts = { destination, check: name, sentence, cure }
    if (result === 'broken') log.warn(facts, 'a check of the set-up fails')
    else log.info(facts, 'a check of the set-up has advice')
  }
}
