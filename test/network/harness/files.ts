// Files to send.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import type { OutgoingContent, OutgoingFile } from '../../../src/core/network/outgoing-content.ts'

export class Files implements AsyncDisposable {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(): Promise<Files> {
    return new Files(await mkdtemp(join(tmpdir(), 'causeway-files-')))
  }

  async write(name: string, bytes: Uint8Array): Promise<string> {
    const path = join(this.#directory, name)
    await writeFile(path, bytes)
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }
}

type FileOptions = Partial<OutgoingFile> & { path: string; caption?: string }

export function fileContent({ caption, ...file }: FileOptions): OutgoingContent {
  const whole = { kind: 'document', mimeType: 'application/pdf', fileName: 'a.pdf', ...file } as const
  return { type: 'file', file: whole, caption: caption ?? null, mentions: [], quote: null }
}

export function picture(width: number, height: number, format: 'jpeg' | 'webp' = 'jpeg'): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: 'teal' } })
    .toFormat(format)
    .toBuffer()
}

/** As much of an Ogg/Opus recording as tells how long it is: the first page and the last. */
export function recording(seconds: number): Buffer {
  const page = (granule: bigint, body: Buffer) => {
    const head = Buffer.alloc(28)
    head.write('OggS')
    head.writeBigInt64LE(granule, 6)
    head.writeUInt8(1, 26)
    head.writeUInt8(body.length, 27)
    return Buffer.concat([head, body])
  }
  const opus = Buffer.alloc(19)
  opus.write('OpusHead')
  opus.writeUInt16LE(312, 10)
  return Buffer.concat([page(0n, opus), page(BigInt(seconds * 48_000 + 312), Buffer.alloc(40, 7))])
}
