// Directories for short-lived files. Their names carry the machine and the process id, so that the next process can remove what a
// kill left. Containers that share a directory have the same process ids, but names of their own.

import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ignoreRejection } from './ignore.ts'

const prefix = 'causeway-scratch-'
const machine = hostname().replaceAll(/[^\w.-]/g, '_')
const own = `${prefix}${machine}-`
/** No file is needed for so long. A container that is started anew has another name, so its age tells that it is left. */
const leftAfterMs = 86_400_000

export function makeScratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${own}${process.pid}-`))
}

/** For the start, before any directory is made: one with our own process id is then from an earlier process. */
export async function clearScratch(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const path = join(tmpdir(), name)
    // Directories of other users are left alone.
    if (await isLeft(name, path)) await rm(path, { recursive: true, force: true }).catch(ignoreRejection)
  }
}

async function isLeft(name: string, path: string): Promise<boolean> {
  const pid = name.startsWith(own) ? Number(/^(\d+)-\w+$/.exec(name.slice(own.length))?.[1] ?? 0) : 0
  if (pid > 0) return pid === process.pid || !isRunning(pid)
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > leftAfterMs
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
