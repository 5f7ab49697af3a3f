// The thread that makes a backup (backup-thread.ts).

import { parentPort, workerData } from 'node:worker_threads'
import { makeBackup } from './make-backup.ts'
import type { BackupOptions } from './make-backup.ts'

/** The size of the backup, or why there is none. */
export type ThreadAnswer = { bytes: number } | { sentence: string }

const options = workerData as BackupOptions

async function answer(): Promise<ThreadAnswer> {
  try {
    return { bytes: await makeBackup(options) }
  } catch (error) {
    return { sentence: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.postMessage(await answer())
