// Keeps the buffers of streamed files from piling up as garbage.
//
// V8 hardly counts the bytes behind a buffer: it collects used buffers only after about 64 MB of them. Code that streams
// therefore reports the bytes it has used, and every few megabytes this file collects the young objects. That takes a
// millisecond or two and frees the used buffers.
//
// V8 also learns where objects are made that survive such a collection, and then makes all objects of that place old at once.
// Code that collects a batch before it is stored would fill the memory with old garbage, which V8 leaves there for long. So this
// file switches that off.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--no-allocation-site-pretenuring')

type Collect = (options: { type: 'minor' }) => void

const enoughBytes = 8 * 1024 * 1024
let spentBytes = 0
let collect: Collect | undefined

/** Reports that so many bytes of buffers are not needed any more, or will not be in a moment. */
export function noteBufferGarbage(bytes: number): void {
  spentBytes += bytes
  if (spentBytes < enoughBytes) return
  spentBytes = 0
  collect ??= exposedCollector()
  collect({ type: 'minor' })
}

/** Exposes the collector to this file only, not to the whole process. */
function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const found = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  return found
}
