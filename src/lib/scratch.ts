// Directories for files that live for a moment. They carry the process, so that the next one can clear away what a kill left.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ignoreRejection } from './ignore.ts'

const prefix = 'causeway-scratch-'

export function makeScratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** For the start, before anything is made: what carries our own number then is from an earlier process. */
export async function clearScratch(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? 0)
    const isLeft = pid > 0 && (pid === process.pid || !isRunning(pid))
    // Somebody else's is not ours to clear.
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
