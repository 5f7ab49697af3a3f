// Tells a failure of storage that may pass from one that stays.

import { StorageError } from './engine/statement.ts'

/** Storage may answer later. */
export function isStorageAway(error: unknown): boolean {
  return error instanceof StorageError && error.failure !== 'failed' && error.failure !== 'constraint'
}
