// Directories for short-lived files. Their names carry the process id, so that the next process can remove what a kill left.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ignoreRejection } from './ignore.ts'

const prefix = 'causeway-scratch-'

export function makeScratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** For the start, before any directory is made: one with our own process id is then from an earlier process. */
export async function clearScratch(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? 0)
    const isLeft = pid > 0 && (pid === process.pid || !isRunning(pid))
    // Directories of other users are left alone.
    if (isLeft) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(ignoreRejection)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
