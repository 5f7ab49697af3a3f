// Runs the service and starts it again when a source file changes.

import { existsSync } from 'node:fs'
import { runNode } from './run-node.ts'

// Not --env-file-if-exists: with a missing file, watch mode aborts on Ctrl+C (nodejs/node#64819).
const settings = existsSync('.env') ? ['--env-file=.env'] : []
await runNode(['--watch', ...settings, 'src/main.ts'])
