// The thread that makes a backup (backup-thread.ts).

import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadAnswer } from './backup-thread.ts'
import { makeBackup } from './make-backup.ts'
import type { BackupOptions } from './make-backup.ts'

const options = workerData as BackupOptions

async function answer(): Promise<ThreadAnswer> {
  try {
    return { bytes: await makeBackup(options) }
  } catch (error) {
    return { sentence: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.postMessage(await answer())
