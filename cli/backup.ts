// npm run backup: copies the embedded database into one file, also while the service runs.

import { makeBackup } from '../src/storage/backup/make-backup.ts'
import { exitCodes } from './cli-error.ts'
import { embeddedFile } from './embedded-file.ts'
import { runProgram } from './run-program.ts'

const help = `Usage: npm run backup -- <file> [--force]

Copies the embedded database (DATABASE_URL) into <file>, also while the service runs.
The copy is checked, and only its owner may read it: it holds session keys and tokens.

  --force  replace <file> if it exists

An old backup holds old ratchets of the encryption: read docs/backup.md before you restore one.`

await runProgram({
  help,
  options: { force: { type: 'boolean' } },
  names: { least: 1, most: 1 },
  run: async ({ names: [target = ''], has }) => {
    const path = embeddedFile(process.env, 'make the backup with pg_dump.')
    const bytes = await makeBackup({ path, target, overwrite: has('force'), now: Date.now() })
    console.log(`✓ ${target} is a complete and checked backup (${(bytes / 1e6).toFixed(1)} MB).`)
    return exitCodes.ok
  },
})
