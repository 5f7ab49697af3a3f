// Asks the machine: free space on a disk, and whether a program can be run.

import { spawn } from 'node:child_process'
import { statfs } from 'node:fs/promises'

export type Machine = {
  /** Free bytes for a user without special rights on the disk of this directory. */
  freeBytes(directory: string): Promise<number>
  /** The free share of the disk of this directory, from 0 to 1, for such a user. */
  freeShare(directory: string): Promise<number>
  /** Whether the program starts and ends without an error. */
  runs(program: string, args: readonly string[]): Promise<boolean>
}

const programMs = 10_000

export const thisMachine: Machine = {
  async freeBytes(directory) {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  },

  async freeShare(directory) {
    const { bavail, bfree, blocks } = await statfs(directory)
    // As df counts: blocks that only root may use are neither used nor free.
    return bavail / (blocks - bfree + bavail)
  },

  runs(program, args) {
    const ended = Promise.withResolvers<boolean>()
    const signal = AbortSignal.timeout(programMs)
    const child = spawn(program, args, { stdio: 'ignore', signal, killSignal: 'SIGKILL' })
    child.on('error', () => {
      ended.resolve(false)
    })
    child.on('close', (code) => {
      ended.resolve(code === 0)
    })
    return ended.promise
  },
}
