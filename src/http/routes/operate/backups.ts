// Makes and lists backups of the embedded database. A backup is never sent over HTTP: it holds session keys and tokens.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { Backup } from '../../../operations/backup-folder.ts'
import type { Backups } from '../../../operations/backups.ts'
import type { HttpApp } from '../../http-app.ts'
import { nullable, responses, Timestamp, toTimestamp } from '../../schemas.ts'

export type BackupDeps = { backups: Pick<Backups, 'make' | 'list' | 'makingSince'> }

const BackupBody = Type.Object(
  {
    path: Type.String({ description: 'The file on the machine of the service' }),
    bytes: Type.Integer(),
    made_at: Timestamp,
  },
  { title: 'Backup' },
)
const Listed = Type.Object({
  backups: Type.Array(BackupBody),
  making_since: nullable(
    Type.String({ ...Timestamp, description: 'When the backup that is being made began; null while none is' }),
  ),
})

const about = (operationId: string, summary: string, description: string) => ({
  ...{ operationId, summary, description },
  tags: ['operations'],
})

export function addBackupRoutes(app: HttpApp, { backups }: BackupDeps): void {
  app.post(
    '/api/backup',
    {
      schema: {
        ...about(
          'makeBackup',
          'Make a checked copy of the embedded database in the folder backups beside it',
          'The service goes on meanwhile. Only the owner of the file may read it: it holds session keys and tokens, and is ' +
            'never sent over HTTP. The newest seven are kept. One backup is made at a time. PostgreSQL is backed up with pg_dump. ' +
            'The answer comes when the backup is complete. A backup goes on when its caller, or a proxy, does not wait so long.',
        ),
        response: responses({ 200: BackupBody }, 409),
      },
    },
    async ({ actor }) => toBody(await backups.make(actor)),
  )
  app.get(
    '/api/backups',
    {
      schema: {
        ...about('listBackups', 'The backups that the service made, newest first', 'Empty with PostgreSQL.'),
        response: { 200: Listed },
      },
    },
    async () => {
      // Read first: a backup that ends meanwhile is in the list.
      const since = backups.makingSince
      return {
        backups: (await backups.list()).map(toBody),
        making_since: since === null ? null : toTimestamp(since),
      }
    },
  )
}

function toBody({ path, bytes, madeAt }: Backup): Static<typeof BackupBody> {
  return { path, bytes, made_at: toTimestamp(madeAt) }
}
