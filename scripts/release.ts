// Makes a release: `npm run release -- minor` stamps the version, `--commit` also commits and tags it.

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { nextVersion } from './release/next-version.ts'
import { stampChangelog, stampImage, stampLabel, stampPackage, stampUpgrading } from './release/stamp.ts'
import type { Release } from './release/stamp.ts'

const usage = 'npm run release -- <patch|minor|major|1.2.3> [--commit]'

/** Files that may name the image. */
const imageFiles = ['README.md', 'deploy/**/*.{yml,md,service}', 'docs/*.md']

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { commit: { type: 'boolean', default: false } },
  })
  const [wanted, ...rest] = positionals
  if (wanted === undefined || rest.length > 0) throw new Error(`name one version: ${usage}`)
  release(wanted, values.commit)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function release(wanted: string, commits: boolean): void {
  if (git('status', '--porcelain', '--untracked-files=no') !== '') {
    throw new Error('there are changes that are not committed: commit or undo them first')
  }
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const next = nextVersion(current, wanted)
  if (git('tag', '--list', `v${next}`) !== '') throw new Error(`the tag v${next} exists already`)
  const changed = stampedFiles({ current, next, date: new Date().toISOString().slice(0, 10) })
  // Every text is made before the first one is written, so a refusal changes nothing.
  for (const [file, text] of changed) writeFileSync(file, text)
  console.log(`${current} → ${next}: ${[...changed.keys()].join(', ')}`)
  if (!commits) return
  git('add', '--', ...changed.keys())
  git('commit', '--quiet', '--message', `chore(release): ${next}`)
  git('tag', '--annotate', `v${next}`, '--message', `Causeway ${next}`)
  console.log(`committed and tagged v${next}; push both to publish them`)
}

function stampedFiles(of: Release): Map<string, string> {
  const stamps: [file: string, stamp: (text: string, release: Release) => string][] = [
    ['CHANGELOG.md', stampChangelog],
    ['package.json', stampPackage],
    ['package-lock.json', stampPackage],
    ['Dockerfile', stampLabel],
    ['docs/upgrading.md', stampUpgrading],
  ]
  for (const file of globSync(imageFiles)) stamps.push([file.replaceAll('\\', '/'), stampImage])
  const changed = new Map<string, string>()
  for (const [file, stamp] of stamps) {
    const before = changed.get(file) ?? readFileSync(file, 'utf8')
    const after = stampFile(file, () => stamp(before, of))
    if (after !== before) changed.set(file, after)
  }
  return changed
}

/** A refusal names the file. */
function stampFile(file: string, stamp: () => string): string {
  try {
    return stamp()
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}
