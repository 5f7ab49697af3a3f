// Reads the length of an Ogg/Opus recording from the position in its last page.

import { open } from 'node:fs/promises'

const pageMark = Buffer.from('OggS')
/** Opus always counts samples at 48 kHz. */
const samplesPerSecond = 48_000n
const largestPage = 65_307
const headBytes = 512

/** Undefined when the file is not an Ogg/Opus recording. */
export async function oggSeconds(path: string): Promise<number | undefined> {
  await using file = await open(path)
  const { size } = await file.stat()
  const read = async (from: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
    return buffer.subarray(0, bytesRead)
  }
  const head = await read(0, headBytes)
  const opus = head.indexOf('OpusHead')
  if (!head.subarray(0, 4).equals(pageMark) || opus < 0) return undefined
  const start = Math.max(0, size - largestPage)
  const tail = await read(start, size - start)
  const page = tail.lastIndexOf(pageMark)
  if (page < 0 || page + 14 > tail.length) return undefined
  const skipped = BigInt(head.readUInt16LE(opus + 10))
  const samples = tail.readBigInt64LE(page + 6) - skipped
  return samples < 0n ? undefined : Math.max(1, Math.round(Number(samples) / Number(samplesPerSecond)))
}
