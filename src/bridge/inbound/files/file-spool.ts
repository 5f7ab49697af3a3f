// Keeps the bytes of a file until it is posted. Small files stay in memory, within a limit for all of them together. Others
// go into a temporary file without a name, which ends with the process.

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { UploadFile } from '../../../core/helpdesk/message.ts'

type Spooled = { upload: Pick<UploadFile, 'open' | 'size'>; [Symbol.asyncDispose](): Promise<void> }

/** The file has more than SERVICE_MEDIA_MAX_BYTES, by what the sender stated or by what was read. */
export class FileTooLarge extends Error {}

const smallBytes = 1024 * 1024
const inMemoryBytes = 16 * 1024 * 1024

export class FileSpool {
  /** The bytes in memory of all files together. */
  #inMemory = 0

  async take(stream: Readable, maxBytes: number): Promise<Spooled> {
    const kept: Buffer[] = []
    let size = 0
    let handle: FileHandle | undefined
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) throw new FileTooLarge()
        if (!handle && size <= smallBytes && this.#inMemory + chunk.length <= inMemoryBytes) {
          kept.push(chunk)
          this.#inMemory += chunk.length
          continue
        }
        handle ??= await openNameless()
        for (const early of this.#letGo(kept)) await handle.writeFile(early)
        await handle.writeFile(chunk)
      }
    } catch (error) {
      this.#letGo(kept)
      await handle?.close()
      throw error
    }
    return handle ? inFile(handle, size) : this.#asBytes(kept)
  }

  #asBytes(kept: Buffer[]): Spooled {
    const bytes = Buffer.concat(kept.splice(0))
    const open = () => Promise.resolve(Readable.from([bytes], { objectMode: false }))
    let isKept = true
    const dispose = () => {
      if (isKept) this.#inMemory -= bytes.length
      isKept = false
      return Promise.resolve()
    }
    return { upload: { open, size: bytes.length }, [Symbol.asyncDispose]: dispose }
  }

  #letGo(kept: Buffer[]): Buffer[] {
    const chunks = kept.splice(0)
    for (const { length } of chunks) this.#inMemory -= length
    return chunks
  }
}

function inFile(handle: FileHandle, size: number): Spooled {
  const open = () => Promise.resolve(handle.createReadStream({ start: 0, autoClose: false, emitClose: true }))
  return { upload: { open, size }, [Symbol.asyncDispose]: () => handle.close() }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `causeway-${randomBytes(12).toString('hex')}`)
  const handle = await open(path, 'wx+', 0o600)
  await unlink(path)
  return handle
}
