// Fetches files from the network. A file is fetched and checked whole before it is posted.

import type { FileRef, MediaContent, MessageKey } from '../../../core/message.ts'
import { FileError } from '../../../core/network.ts'
import type { Network } from '../../../core/network.ts'
import type { UploadFile } from '../../../core/helpdesk/message.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { orAbort } from '../../../lib/abort.ts'
import { sleep } from '../../../lib/clock.ts'
import type { Clock } from '../../../lib/clock.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import { Semaphore } from '../../../lib/queues/semaphore.ts'
import { fileNameOf, mimeTypeOf } from './file-names.ts'
import { FileSpool, FileTooLarge } from './file-spool.ts'
import type { SessionOf } from '../../people/group-directory.ts'

type Deps = {
  network: Pick<Network, 'download'>
  sessionOf: SessionOf
  clock: Clock
  maxBytes: number
}

export type FetchedMedia = { upload: UploadFile; [Symbol.asyncDispose](): Promise<void> }

type Wanted = { instance: InstanceName; media: MediaContent; key: MessageKey }

/** Where the file is now: the phone may have uploaded it again. */
type Source = { file: FileRef; hasAsked: boolean; isLost: boolean }

/** What is left of the time for one file. Waiting for a place does not count. */
type Budget = { leftMs: number }

const fetchesPerInstance = 8
// Three attempts in 30 s. An attempt that hangs leaves time for the next one.
const startsMs = [0, 8_000, 20_000]
const totalMs = 30_000
const attemptMs = 10_000
const slowestBytesPerMs = 256

export class FileFetcher implements PerInstance {
  readonly #deps: Deps
  readonly #spool = new FileSpool()
  /** Per instance, so that no instance waits for the files of another. */
  readonly #limits = new Map<InstanceName, Semaphore>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Makes three attempts. Asks the phone for a file that the server no longer has. Rejects with FileError or FileTooLarge.
   */
  async fetch(wanted: Wanted, signal: AbortSignal): Promise<FetchedMedia> {
    const source = sourceOf(wanted)
    const total = totalMs + this.#transferMs(wanted.media)
    const budget = { leftMs: total }
    let failure: unknown
    for (const startMs of startsMs) {
      const pauseMs = startMs - (total - budget.leftMs)
      if (pauseMs > 0) {
        await sleep(this.#deps.clock, pauseMs, signal)
        budget.leftMs -= pauseMs
      }
      if (budget.leftMs <= 0) break
      try {
        return await this.#try(wanted, source, budget, signal)
      } catch (error) {
        if (signal.aborted || error instanceof FileTooLarge || source.isLost) throw error
        failure = error
      }
    }
    throw failure
  }

  /** Whether a file of the instance is on its way to this process. */
  isFetching(instance: InstanceName): boolean {
    return this.#limits.get(instance)?.isEmpty === false
  }

  leave(instance: InstanceName): void {
    this.#limits.delete(instance)
  }

  fetchOnce(wanted: Wanted, signal: AbortSignal): Promise<FetchedMedia> {
    return this.#try(wanted, sourceOf(wanted), { leftMs: totalMs + this.#transferMs(wanted.media) }, signal)
  }

  async #try(wanted: Wanted, source: Source, budget: Budget, signal: AbortSignal): Promise<FetchedMedia> {
    const { size } = wanted.media
    if (size !== null && size > this.#deps.maxBytes) throw new FileTooLarge()
    try {
      return await this.#download(wanted, source, budget, signal)
    } catch (error) {
      if (!(error instanceof FileError && error.gone) || source.hasAsked) throw error
      const asked = this.#deps.sessionOf(wanted.instance)?.requestFileAgain(wanted.key, wanted.media.file)
      if (!asked) throw error
      Object.assign(source, { hasAsked: true, isLost: true })
      source.file = await this.#spend(budget, budget.leftMs, (until) => orAbort(asked, until), signal)
      source.isLost = false
      return await this.#download(wanted, source, budget, signal)
    }
  }

  async #download({ instance, media, key }: Wanted, { file }: Source, budget: Budget, signal: AbortSignal) {
    const { network, maxBytes } = this.#deps
    const leave = await getOrCreate(this.#limits, instance, () => new Semaphore(fetchesPerInstance)).enter(signal)
    try {
      const fetching = async (until: AbortSignal): Promise<FetchedMedia> => {
        const spool = await this.#spool.take(await network.download(instance, file, until), maxBytes)
        const upload = { ...spool.upload, fileName: fileNameOf(media, key.id), mimeType: mimeTypeOf(media) }
        return { upload, [Symbol.asyncDispose]: spool[Symbol.asyncDispose] }
      }
      return await this.#spend(budget, attemptMs + this.#transferMs(media), fetching, signal)
    } finally {
      leave()
    }
  }

  /** Aborts the work when `maxMs` or the budget is used up, or when the signal aborts. */
  async #spend<T>(
    budget: Budget,
    maxMs: number,
    work: (until: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { clock } = this.#deps
    const until = new AbortController()
    const end = () => {
      until.abort(signal.aborted ? signal.reason : new FileError(false, 'the file did not arrive in time'))
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', end, { once: true })
    const began = clock.monotonic()
    const cancel = clock.after(Math.min(maxMs, budget.leftMs), end)
    try {
      return await work(until.signal)
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
      budget.leftMs -= clock.monotonic() - began
    }
  }

  #transferMs({ size }: MediaContent): number {
    return (size ?? this.#deps.maxBytes) / slowestBytesPerMs
  }
}

function sourceOf({ media }: Wanted): Source {
  return { file: media.file, hasAsked: false, isLost: false }
}
