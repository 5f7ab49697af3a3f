// Files from the network on their way to the helpdesk: fetched and checked whole before anything is posted.

import type { PerInstance } from '../../../core/per-instance.ts'
import type { FileRef, MediaContent, MessageKey } from '../../../core/message.ts'
import { FileError } from '../../../core/network.ts'
import type { Network } from '../../../core/network.ts'
import type { UploadFile } from '../../../core/downstream.ts'
import { sleep } from '../../../lib/clock.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Semaphore } from '../../../lib/semaphore.ts'
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

type Wanted = { instance: string; media: MediaContent; key: MessageKey }

/** Where it is now: the phone may have put it somewhere else. */
type Source = { file: FileRef; hasAsked: boolean; isLost: boolean }

/** What is left of the time for one file; waiting for a turn costs nothing. */
type Budget = { leftMs: number }

const atOnce = 8
// Three tries in 30 s; a try that hangs leaves time for the next one.
const startsMs = [0, 8_000, 20_000]
const totalMs = 30_000
const tryMs = 10_000
const slowestBytesPerMs = 256

export class FileFetcher implements PerInstance {
  readonly #deps: Deps
  readonly #spool = new FileSpool()
  /** Per instance: nobody waits for the files of others. */
  readonly #gates = new Map<string, Semaphore>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Three tries; what the server no longer has is asked of the phone. Rejects with FileError or FileTooLarge. */
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
      source.file = await this.#spend(budget, budget.leftMs, (until) => unlessAborted(asked, until), signal)
      source.isLost = false
      return await this.#download(wanted, source, budget, signal)
    }
  }

  async #download({ instance, media, key }: Wanted, { file }: Source, budget: Budget, signal: AbortSignal) {
    const { network, maxBytes } = this.#deps
    const leave = await this.#gateOf(instance).enter(signal)
    try {
      const fetching = async (until: AbortSignal): Promise<FetchedMedia> => {
        const spool = await this.#spool.take(await network.download(file, until), maxBytes)
        const upload = { ...spool.upload, fileName: fileNameOf(media, key.id), mimeType: mimeTypeOf(media) }
        return { upload, [Symbol.asyncDispose]: spool[Symbol.asyncDispose] }
      }
      return await this.#spend(budget, tryMs + this.#transferMs(media), fetching, signal)
    } finally {
      leave()
    }
  }

  /** The work is told to end when `maxMs` or the budget are used up, or when the signal aborts. */
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

  leave(instance: string): void {
    this.#gates.delete(instance)
  }

  #gateOf(instance: string): Semaphore {
    const known = this.#gates.get(instance)
    if (known) return known
    const gate = new Semaphore(atOnce)
    this.#gates.set(instance, gate)
    return gate
  }
}

/** For work that does not hear the signal itself. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', end)
    })
  })
}

function sourceOf({ media }: Wanted): Source {
  return { file: media.file, hasAsked: false, isLost: false }
}
