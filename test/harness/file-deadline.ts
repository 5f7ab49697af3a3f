// Ends a test file that hangs. The runner limits each test, but a test that was given up keeps its servers and timers, and
// the process of its file would then never end.

import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const minutes = process.env['TEST_LONG'] ? 120 : 40

// The runner itself loads this module too, and lives as long as all files together.
const [, file = ''] = process.argv
if (isMainThread && /\.test\.(?:ts|mjs)$/.test(file)) setTimeout(giveUp, minutes * 60_000).unref()

function giveUp(): never {
  const open = [...new Set(process.getActiveResourcesInfo())].join(', ')
  process.stderr.write(`${basename(file)} has not ended after ${minutes} minutes. Still open: ${open}.\n`)
  process.exit(1)
}
