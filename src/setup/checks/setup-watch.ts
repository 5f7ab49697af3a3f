// Repeats the checks that change nothing, in the background: once in five minutes for each helpdesk inbox and for the process.
//
// Each instance has its own turn within the five minutes. At its turn its helpdesk inbox is checked, unless another instance
// with the same inbox has caused that already.

import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { orAbort } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'
import type { Routing } from '../../tenants/routing.ts'
import { noDestination } from './destination-checks.ts'
import type { CheckedInstance, DestinationChecks } from './destination-checks.ts'
import type { ProcessChecks } from './process-checks.ts'
import { destinationPart, processPart } from './setup-findings.ts'
import type { SetupFindings } from './setup-findings.ts'

type WatchedInstance = CheckedInstance & { jid: string | null }
/** `key` is the part that was checked at the last turn. */
type Turn = { dueAt: number; key: string | null }

type Deps = {
  instances: { records(): readonly WatchedInstance[] }
  routing: Pick<Routing, 'accessOf' | 'accountOf'>
  destinations: Pick<DestinationChecks, 'run'>
  process: Pick<ProcessChecks, 'run'>
  findings: Pick<SetupFindings, 'note' | 'keepOnly' | 'brokenKeys'>
  clock: Pick<Clock, 'monotonic'>
  random: () => number
}

const everyMs = 5 * 60_000
/** The first turns after a start are spread over this time for each instance, and over five minutes at most. */
const spreadMs = 600
const checksAtOnce = 4
/** Linked instances without a helpdesk are one part, and so are those that lack only the helpdesk inbox. */
const noHelpdesk = { key: 'no helpdesk', destination: null }
const noInbox = { key: 'no helpdesk inbox', destination: null }

export class SetupWatch implements PerInstance {
  readonly #deps: Deps
  readonly #turns = new Map<InstanceName, Turn>()
  readonly #checkedAt = new Map<string, number>()
  readonly #gate = new Semaphore(checksAtOnce)
  readonly #stop = new AbortController()
  #hasBegun = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Checks what is due. A ticker calls it every few seconds. */
  async run(): Promise<void> {
    const { signal } = this.#stop
    if (signal.aborted) return
    const work = [this.#checkProcess(), ...this.#due().map((instance) => this.#takeTurn(instance))]
    await orAbort(Promise.all(work), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    this.#forgetUnused()
  }

  /** The configuration changed, so what is broken is checked again with the next run. */
  recheckBroken(): void {
    const now = this.#deps.clock.monotonic()
    const broken = this.#deps.findings.brokenKeys()
    for (const key of broken) this.#checkedAt.delete(key)
    for (const turn of this.#turns.values()) if (turn.key !== null && broken.has(turn.key)) turn.dueAt = now
  }

  leave(instance: InstanceName): void {
    this.#turns.delete(instance)
    this.#forgetUnused()
  }

  /** The run under way ends at once. Its questions are given up. */
  [Symbol.dispose](): void {
    this.#stop.abort()
  }

  #due(): WatchedInstance[] {
    const now = this.#deps.clock.monotonic()
    const records = this.#deps.instances.records()
    // An instance that is created later is checked at once.
    const firstMs = this.#hasBegun ? 0 : Math.min(everyMs, (records.length - 1) * spreadMs)
    this.#hasBegun = true
    return records.filter(({ name }) => {
      const turn = this.#turns.get(name) ?? { dueAt: now + Math.round(this.#deps.random() * firstMs), key: null }
      this.#turns.set(name, turn)
      if (turn.dueAt > now) return false
      turn.dueAt = now + everyMs
      return true
    })
  }

  async #takeTurn(instance: WatchedInstance): Promise<void> {
    const { routing, destinations, findings } = this.#deps
    const access = await routing.accessOf(instance)
    const hasHelpdesk = access !== null || (await routing.accountOf(instance)) !== null
    const part = access ? destinationPart(access) : hasHelpdesk ? noInbox : noHelpdesk
    const turn = this.#turns.get(instance.name)
    // Before an account is linked, there are no messages to deliver.
    if (!turn || (!access && instance.jid === null)) return
    turn.key = part.key
    await this.#once(part.key, async () => {
      const checked = access
        ? (await destinations.run(instance, access)).findings
        : [noDestination('<name>', hasHelpdesk)]
      if (!this.#stop.signal.aborted) findings.note(part, checked)
    })
  }

  #checkProcess(): Promise<void> {
    const { process, findings } = this.#deps
    return this.#once(processPart.key, async () => {
      const checked = await process.run(this.#stop.signal)
      if (!this.#stop.signal.aborted) findings.note(processPart, checked)
    })
  }

  /** Runs the check unless it was made within the last five minutes. */
  async #once(key: string, check: () => Promise<void>): Promise<void> {
    const now = this.#deps.clock.monotonic()
    const checkedAt = this.#checkedAt.get(key)
    if (checkedAt !== undefined && now - checkedAt < everyMs) return
    this.#checkedAt.set(key, now)
    const leave = await this.#gate.enter(this.#stop.signal)
    try {
      await check()
    } finally {
      leave()
    }
  }

  #forgetUnused(): void {
    const used = new Set([processPart.key, ...[...this.#turns.values()].flatMap(({ key }) => key ?? [])])
    this.#deps.findings.keepOnly(used)
    for (const key of [...this.#checkedAt.keys()]) if (!used.has(key)) this.#checkedAt.delete(key)
  }
}
