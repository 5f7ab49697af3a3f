import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readBuildInfo } from './build-info.ts'
import { readGitCommit } from './git-commit.ts'

const commit = 'a1'.repeat(20)
const other = 'b2'.repeat(20)

/** A folder with these files, relative to it. */
function folderWith(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'causeway-git-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return {
    root,
    [Symbol.dispose]: () => {
      rmSync(root, { recursive: true })
    },
  }
}

function commitOf(files: Record<string, string>, folder = '.'): string | undefined {
  using place = folderWith(files)
  return readGitCommit(join(place.root, folder))
}

describe('the commit is found', () => {
  const branch = { '.git/HEAD': 'ref: refs/heads/main\n' }
  const packed = `# pack-refs with: peeled\n${other} refs/heads/old-main\n${commit} refs/heads/main\n^${other}\n`

  test('on a branch', () => {
    assert.equal(commitOf({ ...branch, '.git/refs/heads/main': `${commit}\n` }), commit)
  })

  test('on a branch that is packed', () => {
    assert.equal(commitOf({ ...branch, '.git/packed-refs': packed }), commit)
  })

  test('on a branch that moved after it was packed', () => {
    assert.equal(commitOf({ ...branch, '.git/refs/heads/main': other, '.git/packed-refs': packed }), other)
  })

  test('without a branch', () => {
    assert.equal(commitOf({ '.git/HEAD': `${commit}\n` }), commit)
  })

  test('on a branch that is a reference to another branch', () => {
    const files = { '.git/refs/heads/main': 'ref: refs/heads/next\n', '.git/refs/heads/next': commit }
    assert.equal(commitOf({ ...branch, ...files }), commit)
  })

  test('in a worktree, whose .git is a file', () => {
    const files = {
      'tree/.git': 'gitdir: ../main/.git/worktrees/tree\n',
      'main/.git/HEAD': other,
      'main/.git/worktrees/tree/HEAD': 'ref: refs/heads/topic/one\n',
      'main/.git/worktrees/tree/commondir': '../..\n',
    }
    assert.equal(commitOf({ ...files, 'main/.git/refs/heads/topic/one': commit }, 'tree'), commit)
    assert.equal(commitOf({ ...files, 'main/.git/packed-refs': `${commit} refs/heads/topic/one` }, 'tree'), commit)
  })

  test('in a repository with SHA-256', () => {
    assert.equal(commitOf({ '.git/HEAD': 'c3'.repeat(32) }), 'c3'.repeat(32))
  })
})

describe('there is no commit', () => {
  const cases: Record<string, Record<string, string>> = {
    'outside of a checkout': { 'package.json': '{}' },
    'in an empty repository': { '.git/HEAD': 'ref: refs/heads/main\n' },
    'on a branch that refers to itself': {
      '.git/HEAD': 'ref: refs/heads/main',
      '.git/refs/heads/main': 'ref: refs/heads/main',
    },
    'in a repository of another format': { '.git/HEAD': 'ref: refs/heads/.invalid', '.git/reftable/tables.list': '' },
    'in a HEAD that leads out of the folder': { '.git/HEAD': 'ref: refs/../../secret', secret: commit },
    'in a HEAD that is no text of git': { '.git/HEAD': '\u0000'.repeat(100_000) },
    'in a worktree whose repository is gone': { '.git': 'gitdir: /nowhere/.git/worktrees/x' },
  }
  for (const [name, files] of Object.entries(cases)) {
    test(name, () => {
      assert.equal(commitOf(files), undefined)
    })
  }
})

test('build-info.json comes before the commit of the checkout', () => {
  const files = { 'package.json': '{"version":"1.2.3","dependencies":{"baileys":"7.8.9"}}', '.git/HEAD': commit }
  using checkout = folderWith(files)
  const unbuilt = readBuildInfo(pathToFileURL(`${checkout.root}/`))
  assert.deepEqual(unbuilt, { version: '1.2.3', commit, buildDate: 'unknown', library: 'baileys 7.8.9' })
  using built = folderWith({ ...files, 'build-info.json': `{"commit":"${other}","build_date":"2026-01-15"}` })
  assert.deepEqual(readBuildInfo(pathToFileURL(`${built.root}/`)), {
    version: '1.2.3',
    commit: other,
    buildDate: '2026-01-15',
    library: 'baileys 7.8.9',
  })
})

const skip = !existsSync('.git') && 'this folder is no checkout'

test('the commit is the one that git itself names', { skip }, (context) => {
  const { stdout, error } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' })
  if (error) context.skip('git is not installed')
  else assert.equal(readGitCommit(process.cwd()), stdout.trim())
})
