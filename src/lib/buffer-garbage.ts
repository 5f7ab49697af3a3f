// Keeps files that pass through from piling up as garbage.
//
// V8 hardly counts the bytes behind a buffer: it lets about 64 MB of spent ones lie before it looks for them, however
// little is held. So whoever streams says what it has used up, and every few megabytes the young objects are collected,
// which takes a millisecond or two: spent buffers are among them.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' }) => void

const enoughBytes = 8 * 1024 * 1024
let spentBytes = 0
let collect: Collect | undefined

/** That many bytes of buffers are not needed any more, or will not be in a moment. */
export function noteBufferGarbage(bytes: number): void {
  spentBytes += bytes
  if (spentBytes < enoughBytes) return
  spentBytes = 0
  collect ??= exposedCollector()
  collect({ type: 'minor' })
}

/** Without a flag for the whole process: scripts elsewhere do not see it. */
function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const found = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  return found
}
