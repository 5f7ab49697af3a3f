// A copy of the working tree in which mutants are tried. The working tree itself is never changed.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

export class TreeCopy {
  readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
  }

  static async create(): Promise<TreeCopy> {
    const directory = await mkdtemp(join(tmpdir(), 'causeway-mutants-'))
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { encoding: 'utf8' })
    for (const file of listed.split('\0').filter((name) => name !== 'node_modules' && name && existsSync(name))) {
      await mkdir(dirname(join(directory, file)), { recursive: true })
      await cp(file, join(directory, file))
    }
    await symlink(resolve('node_modules'), join(directory, 'node_modules'), 'junction')
    return new TreeCopy(directory)
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.directory, file), text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A test that was just ended may still have been writing.
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
