// Makes a backup in a thread of its own: the check of the copy reads all of it, and the service must go on meanwhile.

import { Worker } from 'node:worker_threads'
import { BackupError } from './backup-file.ts'
import type { ThreadAnswer } from './backup-worker.ts'
import type { BackupOptions } from './make-backup.ts'

/** Returns the size of the backup in bytes. An abort ends the thread, which may leave a temporary file. */
export function makeBackupInThread(options: BackupOptions, signal: AbortSignal): Promise<number> {
  const ended = Promise.withResolvers<number>()
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url), { workerData: options, name: 'backup' })
  const stop = () => void worker.terminate()
  signal.addEventListener('abort', stop)
  worker.on('message', (answer: ThreadAnswer) => {
    if ('bytes' in answer) ended.resolve(answer.bytes)
    else ended.reject(new BackupError(answer.sentence))
  })
  worker.on('error', (cause) => {
    ended.reject(new BackupError('the backup failed unexpectedly: the log says why', { cause }))
  })
  worker.on('exit', () => {
    signal.removeEventListener('abort', stop)
    ended.reject(new BackupError('the backup was stopped: try again when the service runs'))
  })
  if (signal.aborted) stop()
  return ended.promise
}
