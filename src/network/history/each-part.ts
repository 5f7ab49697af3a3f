// Reads a packed history from its beginning to its end and gives its parts to the caller, one after the other.

import { pipeline } from 'node:stream'
import { createInflate } from 'node:zlib'
import { FileError } from '../../core/network.ts'
import { noteBufferGarbage } from '../../lib/buffer-garbage.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import { HistoryError } from './history-error.ts'
import { HistoryParser } from './history-parser.ts'
import type { HistoryPart } from './history-parser.ts'
import type { HistorySource } from './history-source.ts'

/** Returns a promise if the next part must wait. */
export type PartReader = (part: HistoryPart) => Promise<void> | undefined

/** Small: the chunk that is being read survives a collection of young objects, and is freed much later. */
const chunkSize = 32 * 1024
/** Decoding and storing a message leaves about this much garbage for each of its bytes. */
const garbagePerByte = 8
const mostSpent = 2 * 1024 * 1024

/** Rejects with a HistoryError if the bytes are damaged or no history. */
export async function eachPart(
  source: Pick<HistorySource, 'open'>,
  read: PartReader,
  signal: AbortSignal,
): Promise<void> {
  const parser = new HistoryParser()
  let spent = 0
  for await (const chunk of unpacked(source)) {
    await eventLoopShare.next()
    signal.throwIfAborted()
    spent += chunk.length
    for (const part of parser.read(chunk)) {
      const ready = read(part)
      if (!ready) continue
      await ready
      spent = noteGarbage(spent)
    }
    if (spent > mostSpent) spent = noteGarbage(spent)
  }
  parser.end()
}

/**
 * When the reader has stored a piece, almost nothing of the history is in use. Memory that is collected at other times survives
 * the collection, and V8 then takes more and more memory for young objects.
 */
function noteGarbage(spentBytes: number): number {
  noteBufferGarbage(spentBytes * garbagePerByte)
  return 0
}

async function* unpacked({ open }: Pick<HistorySource, 'open'>): AsyncGenerator<Buffer> {
  const inflate = createInflate({ chunkSize })
  try {
    for await (const chunk of pipeline(open(), inflate, () => undefined)) yield chunk as Buffer
  } catch (cause) {
    if (cause instanceof FileError) throw new HistoryError(cause.message, { cause })
    if (isOfUnpacking(cause)) throw new HistoryError('the history cannot be unpacked', { cause })
    throw cause
  }
}

function isOfUnpacking(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^Z_/.test(error.code)
}
