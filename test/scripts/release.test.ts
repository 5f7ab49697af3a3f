// `npm run release` on a copy of the files that it stamps, in a repository of its own.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { nextVersion } from '../../scripts/release/next-version.ts'

const script = resolve('scripts/release.ts')
const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A feature.\n\n## [0.64.0] - 2026-01-01\n\n- Old.\n'
const upgrading = '## What each release needs\n\n- **Unreleased**: nothing.\n- **0.64.0**: a new key.\n'

class Repository {
  readonly #directory = mkdtempSync(join(tmpdir(), 'causeway-release-'))

  constructor(changes = changelog) {
    const version = { name: 'causeway', version: '0.65.0' }
    this.write('package.json', `${JSON.stringify({ ...version, type: 'module' }, null, 2)}\n`)
    const other = { version: '0.65.0' }
    const lock = { ...version, packages: { '': version, 'node_modules/other': other } }
    this.write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
    this.write('CHANGELOG.md', changes)
    this.write('Dockerfile', 'LABEL org.opencontainers.image.version="0.65.0"\n')
    this.write('docs/upgrading.md', upgrading)
    this.write('deploy/compose.yml', 'image: ${CAUSEWAY_IMAGE:-causeway:0.65.0}\nother: postgres:0.65.0\n')
    this.git('init', '--quiet')
    this.git('config', 'user.email', 'test@example.com')
    this.git('config', 'user.name', 'Test')
    this.git('add', '.')
    this.git('commit', '--quiet', '--message', 'first')
  }

  read(file: string): string {
    return readFileSync(join(this.#directory, file), 'utf8')
  }

  write(file: string, text: string): void {
    mkdirSync(join(this.#directory, file, '..'), { recursive: true })
    writeFileSync(join(this.#directory, file), text)
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.#directory, encoding: 'utf8' }).trim()
  }

  release(...args: readonly string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: this.#directory })
    return { status, output: `${stdout.toString()}${stderr.toString()}` }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true })
  }
}

describe('npm run release', () => {
  test('stamps the package, the changelog, the label of the image and the files that name the image', () => {
    using repository = new Repository()
    const { status, output } = repository.release('minor')
    assert.equal(status, 0, output)
    assert.match(repository.read('package.json'), /"version": "0\.66\.0"/)
    assert.equal(repository.read('package-lock.json').match(/0\.66\.0/g)?.length, 2)
    assert.match(repository.read('package-lock.json'), /"node_modules\/other": \{\s*"version": "0\.65\.0"/)
    assert.equal(repository.read('Dockerfile'), 'LABEL org.opencontainers.image.version="0.66.0"\n')
    assert.equal(
      repository.read('deploy/compose.yml'),
      'image: ${CAUSEWAY_IMAGE:-causeway:0.66.0}\nother: postgres:0.65.0\n',
    )
    assert.match(repository.read('docs/upgrading.md'), /\n\n- \*\*0\.66\.0\*\*: nothing\.\n- \*\*0\.64\.0\*\*/)
    const heading =
      /## \[Unreleased\]\n\n## \[0\.66\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A feature\.\n\n## \[0\.64\.0\]/
    assert.match(repository.read('CHANGELOG.md'), heading)
    assert.equal(repository.git('tag'), '', 'nothing is tagged without --commit')
    assert.equal(repository.git('log', '--oneline').split('\n').length, 1)
  })

  test('with --commit there is a commit with a tag, and a second release has nothing to release', () => {
    using repository = new Repository()
    assert.equal(repository.release('1.0.0', '--commit').status, 0)
    assert.equal(repository.git('describe', '--exact-match'), 'v1.0.0')
    assert.equal(repository.git('status', '--porcelain'), '')
    const again = repository.release('patch', '--commit')
    assert.deepEqual([again.status, repository.git('describe', '--exact-match')], [1, 'v1.0.0'])
    assert.match(again.output, /nothing to release/)
  })

  const refusals: { name: string; args: string[]; says: RegExp; prepare?: (repository: Repository) => void }[] = [
    { name: 'no version', args: [], says: /name one version/ },
    { name: 'a word', args: ['big'], says: /"big" is no version/ },
    { name: 'the same version', args: ['0.65.0'], says: /not higher than 0\.65\.0/ },
    { name: 'a lower version', args: ['0.9.0'], says: /not higher than 0\.65\.0/ },
    { name: 'an unknown option', args: ['patch', '--push'], says: /--push/ },
    {
      name: 'a change that is not committed',
      args: ['patch'],
      says: /not committed/,
      prepare: (repository) => {
        repository.write('Dockerfile', 'LABEL org.opencontainers.image.version="0.65.0"\n# changed\n')
      },
    },
    {
      name: 'a tag that exists',
      args: ['patch'],
      says: /v0\.65\.1 exists/,
      prepare: (repository) => repository.git('tag', 'v0.65.1'),
    },
  ]
  for (const { name, args, says, prepare } of refusals) {
    test(`refuses ${name} and changes nothing`, () => {
      using repository = new Repository()
      prepare?.(repository)
      const before = repository.git('diff')
      const { status, output } = repository.release(...args)
      assert.deepEqual([status, repository.git('diff')], [1, before])
      assert.match(output, says)
    })
  }

  test('refuses an empty Unreleased', () => {
    using repository = new Repository('# Changelog\n\n## [Unreleased]\n\n## [0.64.0] - 2026-01-01\n\n- Old.\n')
    assert.match(repository.release('patch').output, /nothing to release/)
    assert.equal(repository.git('diff'), '')
  })

  const unstampable = [
    [
      'Dockerfile',
      "LABEL org.opencontainers.image.version='0.65.0'\n",
      /^Dockerfile: it does not name the version of now/,
    ],
    ['docs/upgrading.md', upgrading.replace('Unreleased', '0.65.0'), /^docs\/upgrading\.md: .* what the release needs/],
  ] as const
  for (const [file, text, says] of unstampable) {
    test(`refuses a ${file} that it cannot stamp, and changes nothing`, () => {
      using repository = new Repository()
      repository.write(file, text)
      repository.git('commit', '--quiet', '--all', '--message', 'other')
      const { status, output } = repository.release('patch')
      assert.deepEqual([status, repository.git('diff')], [1, ''])
      assert.match(output, says)
    })
  }

  test('in the files of this repository no tag and no label of the version before is left', () => {
    using repository = new Repository()
    const deployed = ['Dockerfile', ...globSync('deploy/**/*.yml')]
    // Right after a release the changelog and the guide have nothing unreleased, so these are not copied.
    for (const file of ['package.json', 'package-lock.json', ...deployed])
      repository.write(file, readFileSync(file, 'utf8'))
    repository.git('add', '.')
    repository.git('commit', '--quiet', '--message', 'ours')
    const { version } = JSON.parse(repository.read('package.json')) as { version: string }
    const { status, output } = repository.release('major')
    assert.equal(status, 0, output)
    assert.deepEqual(
      deployed.filter((file) => repository.read(file).includes(version)),
      [],
    )
  })
})

test('the changelog of this repository has the heading under which a release looks', () => {
  assert.match(readFileSync('CHANGELOG.md', 'utf8'), /\n## \[Unreleased\]\n/)
})

test('the next version', () => {
  assert.deepEqual(
    ['patch', 'minor', 'major', '1.2.10'].map((wanted) => nextVersion('1.2.9', wanted)),
    ['1.2.10', '1.3.0', '2.0.0', '1.2.10'],
  )
  assert.throws(() => nextVersion('1.10.0', '1.9.9'))
  assert.throws(() => nextVersion('next', 'patch'), /three numbers/)
})
