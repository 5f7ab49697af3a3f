// Where the bytes of a history come from: the notification itself, or a file of the media host that is spooled to disk.
//
// The authentication code of a file stands at its end, and a history may be larger than the memory. So the file goes to disk as
// the host has it, sealed. The first reading checks it and gives nothing to the service; the second one hands its messages out.

import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { pipeline as finished } from 'node:stream/promises'
import { FileError } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Semaphore } from '../../lib/queues/semaphore.ts'
import { makeScratch } from '../../lib/scratch.ts'
import { fileUrl, openUrl } from '../files/download.ts'
import type { FileSource } from '../files/download.ts'
import type { SealedFile } from '../files/media-keys.ts'
import { FileOpener } from '../files/open-file.ts'
import { base64Of, textOf } from '../decode/values.ts'
import type { proto } from '../library/library.ts'
import { HistoryError } from './history-error.ts'

type Notification = proto.Message.IHistorySyncNotification

/** The packed history. It can be opened again and again. */
export type HistorySource = AsyncDisposable & { open(): Readable }

type Deps = {
  source: FileSource
  /** The host that has the files. Null: the host of WhatsApp. */
  mediaHost: () => Promise<string | null>
  /** A file that is on the disk waits for it. */
  turn: Semaphore
  clock: Clock
}

/** How long the host may send nothing. */
const silenceMs = 30_000
const nothing = () => Promise.resolve()

export async function openHistory(note: Notification, deps: Deps, signal: AbortSignal): Promise<HistorySource> {
  const { initialHistBootstrapInlinePayload: payload } = note
  if (payload?.length) return { open: () => Readable.from([payload]), [Symbol.asyncDispose]: nothing }
  const file = fileOf(note)
  const sealed = await fetchSealed(file, deps, signal)
  return {
    // The caller sees a failure when it reads.
    open: () => pipeline(createReadStream(sealed.path), new FileOpener(file), () => undefined),
    [Symbol.asyncDispose]: sealed.remove,
  }
}

function fileOf({ directPath, mediaKey, fileSha256, fileEncSha256 }: Notification): SealedFile {
  const key = base64Of(mediaKey)
  const path = textOf(directPath)
  if (key === null || path === null) throw new HistoryError('the phone does not say where the history is')
  const hashes = { sha256: base64Of(fileSha256), encSha256: base64Of(fileEncSha256) }
  return { kind: 'history', url: null, directPath: path, mediaKey: key, ...hashes }
}

type Spooled = { path: string; remove: () => Promise<void> }

async function fetchSealed(
  file: SealedFile,
  { source, mediaHost, turn, clock }: Deps,
  signal: AbortSignal,
): Promise<Spooled> {
  const host = await mediaHost()
  const url = host === null ? null : `https://${host}${file.directPath ?? ''}`
  const leave = await turn.enter(signal)
  const directory = await makeScratch().catch((error: unknown) => {
    leave()
    throw error
  })
  const remove = () => rm(directory, { recursive: true, force: true }).finally(leave)
  const path = join(directory, 'history')
  const silence = new Silence(clock)
  try {
    const either = AbortSignal.any([signal, silence.signal])
    const body = await openUrl(fileUrl({ ...file, url }, source), source, either)
    await finished(body, silence.heard.bind(silence), createWriteStream(path), { signal: either })
    return { path, remove }
  } catch (error) {
    await remove()
    if (error instanceof FileError && error.gone) {
      throw new HistoryError('the host does not have the file of the history any more', { cause: error })
    }
    throw error
  } finally {
    silence.end()
  }
}

/** Aborts a download whose host sends nothing for too long. */
class Silence {
  readonly #clock: Clock
  readonly #controller = new AbortController()
  #cancel: () => void

  constructor(clock: Clock) {
    this.#clock = clock
    this.#cancel = this.#start()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Passes the chunks on. Each one starts the time anew. */
  async *heard(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.#cancel()
      this.#cancel = this.#start()
      yield chunk
    }
  }

  end(): void {
    this.#cancel()
  }

  #start(): () => void {
    return this.#clock.after(silenceMs, () => {
      this.#controller.abort(new Error(`the host of the history sent nothing for ${silenceMs / 1000} s`))
    })
  }
}
