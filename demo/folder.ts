// The temporary folder of one demo. Its name carries the process id, so that the next demo removes what a kill -9 left.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'causeway-demo-'

/** Without a pause in between, so that no signal comes after the folder is made and before its removal is planned. */
export function makeFolder(): string {
  removeLeft()
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
}

function removeLeft(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? 0)
    if (pid === 0 || isRunning(pid)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // It belongs to another user of this machine.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
