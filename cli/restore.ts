// npm run restore: puts a backup in the place of the embedded database, after a warning.

import { shownOwnerName } from '../src/nodes/owner-name.ts'
import { createLog } from '../src/lib/log.ts'
import { restoreBackup } from '../src/storage/backup/restore-backup.ts'
import { askPerson } from './ask-person.ts'
import { CliError, exitCodes } from './cli-error.ts'
import { embeddedFile } from './embedded-file.ts'
import { runProgram } from './run-program.ts'

const help = `Usage: npm run restore -- <file> [--yes] [--current]

Puts a backup in the place of the embedded database (DATABASE_URL). The service must be stopped.
The database that is there is moved aside and stays.

  --yes      do not ask
  --current  the service has not run since the backup was made: messages that wait in the backup are sent`

const warning = `A backup holds the state of the encryption (the ratchets) at the time when it was made.
If the service has sent or received messages since then:
  - The service cannot open the next message of some customers at once, and asks their phones for it again.
  - Messages that came since are at Chatwoot, but the service does not know them: quotes and reactions to them are lost.
  - Messages that waited in the backup are not sent again. Chatwoot shows them as failed, and an agent decides.
Restore if the database is lost or damaged, or to move the service. Do not restore to undo a mistake.`

await runProgram({
  help,
  options: { yes: { type: 'boolean' }, current: { type: 'boolean' } },
  names: { least: 1, most: 1 },
  run: async ({ names: [source = ''], has }, stopped) => {
    const path = embeddedFile(process.env, 'restore it with pg_restore, and read docs/backup.md.')
    const isCurrent = has('current')
    if (!isCurrent) console.log(warning)
    if (!has('yes')) await agree(path, stopped)
    const log = createLog({ level: 'warn', format: 'pretty' })
    const options = { path, source, isCurrent, now: Date.now(), log, shownOwner: shownOwnerName }
    const { movedTo, madeAt } = await restoreBackup(options)
    if (movedTo !== null) console.log(`The database that was there is now ${movedTo}.`)
    const age = madeAt === null ? '' : ` It was made at ${new Date(madeAt).toISOString()}.`
    console.log(`✓ ${path} is the backup ${source}.${age} Start the service now.`)
    return exitCodes.ok
  },
})

async function agree(path: string, stopped: AbortSignal): Promise<void> {
  const answer = await askPerson(`Replace ${path}? Type yes: `, stopped)
  if (answer === undefined) throw new CliError('Nothing was changed: add --yes to restore.')
  if (answer.trim().toLowerCase() !== 'yes') throw new CliError('Nothing was changed.')
}
