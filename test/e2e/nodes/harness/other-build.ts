// The service of this checkout under another version, as a node of the next release is.

import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const copied = ['src', 'package.json']

/** Returns the program to start. The copy goes with the stack. */
export async function copyBuild(version: string, stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-build-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  for (const name of await readdir(root)) {
    if (!copied.includes(name)) await symlink(join(root, name), join(directory, name))
  }
  await cp(join(root, 'src'), join(directory, 'src'), { recursive: true })
  const about = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object
  await writeFile(join(directory, 'package.json'), JSON.stringify({ ...about, version }))
  return join(directory, 'src/main.ts')
}
