// Files from the network on their way to the helpdesk: fetched and checked whole before anything is posted, small ones in
// memory, larger ones in a file that has no name and is gone with the process.

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FileRef, MediaContent, MessageKey } from '../core/message.ts'
import { FileError } from '../core/network.ts'
import type { Network } from '../core/network.ts'
import type { UploadFile } from '../core/downstream.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Gate } from '../lib/gate.ts'
import { fileNameOf, mimeTypeOf } from './file-names.ts'
import type { SessionOf } from './group-directory.ts'

type Deps = {
  network: Pick<Network, 'download'>
  sessionOf: SessionOf
  clock: Clock
  maxBytes: number
}

export type FetchedFile = { upload: UploadFile; [Symbol.asyncDispose](): Promise<void> }

/** More than SERVICE_MEDIA_MAX_BYTES, as stated or as it turned out. */
export class FileTooLarge extends Error {}

type Wanted = { instance: string; media: MediaContent; key: MessageKey }

const inMemoryBytes = 1024 * 1024
const atOnce = 8
// Three tries in 30 s.
const pausesMs = [0, 8_000, 16_000]
const slowestBytesPerMs = 256

export class IncomingFiles {
  readonly #deps: Deps
  readonly #gate = new Gate(atOnce)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Three tries; what the server no longer has is asked of the phone. Rejects with FileError or FileTooLarge. */
  async fetch(wanted: Wanted, signal: AbortSignal): Promise<FetchedFile> {
    let failure: unknown
    for (const pauseMs of pausesMs) {
      if (pauseMs > 0) await sleep(this.#deps.clock, pauseMs, signal)
      signal.throwIfAborted()
      try {
        return await this.fetchOnce(wanted, signal)
      } catch (error) {
        if (signal.aborted || error instanceof FileTooLarge) throw error
        failure = error
      }
    }
    throw failure
  }

  async fetchOnce({ instance, media, key }: Wanted, signal: AbortSignal): Promise<FetchedFile> {
    if (media.size !== null && media.size > this.#deps.maxBytes) throw new FileTooLarge()
    const leave = await this.#gate.enter(signal)
    try {
      return await this.#download(media, media.file, key, signal)
    } catch (error) {
      if (!(error instanceof FileError && error.gone)) throw error
      const again = await this.#deps.sessionOf(instance)?.requestFileAgain(key, media.file)
      if (!again) throw error
      return await this.#download(media, again, key, signal)
    } finally {
      leave()
    }
  }

  async #download(media: MediaContent, file: FileRef, key: MessageKey, signal: AbortSignal): Promise<FetchedFile> {
    const { network, clock, maxBytes } = this.#deps
    const deadline = new AbortController()
    const end = () => {
      deadline.abort(signal.aborted ? signal.reason : new FileError(false, 'the file did not arrive in time'))
    }
    signal.addEventListener('abort', end, { once: true })
    const cancel = clock.after(15_000 + (media.size ?? maxBytes) / slowestBytesPerMs, end)
    try {
      const stream = await network.download(file, deadline.signal)
      const spool = await spoolFrom(stream, maxBytes)
      const upload = { ...spool.upload, fileName: fileNameOf(media, key.id), mimeType: mimeTypeOf(media) }
      return { upload, [Symbol.asyncDispose]: spool[Symbol.asyncDispose] }
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
    }
  }
}

type Spool = { upload: Pick<UploadFile, 'open' | 'size'>; [Symbol.asyncDispose](): Promise<void> }

async function spoolFrom(stream: Readable, maxBytes: number): Promise<Spool> {
  const small: Buffer[] = []
  let size = 0
  let handle: FileHandle | undefined
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw new FileTooLarge()
      if (size <= inMemoryBytes) {
        small.push(chunk)
        continue
      }
      handle ??= await openNameless()
      // Unlike write, this writes everything.
      for (const kept of small.splice(0)) await handle.writeFile(kept)
      await handle.writeFile(chunk)
    }
  } catch (error) {
    await handle?.close()
    throw error
  }
  return handle ? inFile(handle, size) : inMemory(Buffer.concat(small))
}

function inMemory(bytes: Buffer): Spool {
  const open = () => Promise.resolve(Readable.from([bytes], { objectMode: false }))
  return { upload: { open, size: bytes.length }, [Symbol.asyncDispose]: () => Promise.resolve() }
}

function inFile(handle: FileHandle, size: number): Spool {
  const open = () => Promise.resolve(handle.createReadStream({ start: 0, autoClose: false, emitClose: true }))
  return { upload: { open, size }, [Symbol.asyncDispose]: () => handle.close() }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `causeway-${randomBytes(12).toString('hex')}`)
  const handle = await open(path, 'wx+', 0o600)
  await unlink(path)
  return handle
}
