// Puts test files into groups, each of which runs in one process. Loading the service takes longer than many test files run, and
// a process that has loaded it once runs all files of its group.

import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A line of a test file that measures its process or changes it, with the reason. */
const alone = /^\/\/ Runs alone: /m
/** Hooks outside of a describe would run for the tests of all files in the process. */
const hook = /^(?:before|after|beforeEach|afterEach)\(/m

// End-to-end tests take longest and begin first, so that the last process to end is a short one.
const order = ['test/e2e/', 'test/network/', 'test/bridge/', 'test/', 'src/']
const sizes: Readonly<Record<string, number>> = { 'test/e2e/': 6, 'src/': 24 }
const usualSize = 12

/** The files of the patterns, in groups: each group has files of one part of the tests only. */
export function groupTests(patterns: readonly string[]): string[][] {
  const files = globSync([...patterns]).map((file) => file.replaceAll('\\', '/'))
  const parts = Map.groupBy(files.sort(), (file) => order.findIndex((start) => file.startsWith(start)))
  return [...parts].sort(([one], [other]) => one - other).flatMap(([part, own]) => groupsOf(own, order[part] ?? ''))
}

function groupsOf(files: readonly string[], part: string): string[][] {
  const { single = [], shared = [] } = Object.groupBy(files, (file) => (runsAlone(file) ? 'single' : 'shared'))
  const count = Math.ceil(shared.length / (sizes[part] ?? usualSize))
  // Neighbours go to different groups: files of one folder take about the same time.
  const groups = Array.from({ length: count }, (_, at) => shared.filter((_, index) => index % count === at))
  return [...single.map((file) => [file]), ...groups]
}

function runsAlone(file: string): boolean {
  const source = readFileSync(file, 'utf8')
  return alone.test(source) || hook.test(source)
}

/** Files to run: one per group. They are removed with the returned object. */
export function writeGroups(groups: readonly string[][]): Disposable & { files: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-groups-'))
  const files = groups.map((group, at) => {
    const [first = ''] = group
    if (group.length === 1) return first
    const path = join(directory, `${String(at).padStart(3, '0')}-${dirname(first).replaceAll('/', '-')}.test.mjs`)
    writeFileSync(path, group.map((file) => `import '${pathToFileURL(resolve(file)).href}'\n`).join(''))
    return path
  })
  return {
    files,
    [Symbol.dispose]: () => {
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The test files of a group, or the file itself when it is none. */
export function testFilesIn(path: string): string[] {
  const imported = [...readFileSync(path, 'utf8').matchAll(/^import '(file:.+)'$/gm)].map(([, url = '']) => url)
  return imported.length > 0 ? imported.map((url) => fileURLToPath(url)) : [path]
}
