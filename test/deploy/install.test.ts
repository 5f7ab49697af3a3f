// The documents name a Node with which npm ci installs all packages. npm leaves out an optional package that needs a newer Node,
// and says nothing: without the binaries of sharp, the service does not start.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

type Package = { dev?: boolean; optional?: boolean; os?: string[]; engines?: { node?: string } }

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Package> }
const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
const byNumbers = new Intl.Collator('en', { numeric: true })

/** The oldest Node that a range such as ">=20.9.0" or "^20.3.0 || >=21.0.0" takes. */
function oldestOf(range: string): string {
  return (
    Array.from(range.matchAll(/(?:>=|\^) ?(\d+(?:\.\d+)*)/g), ([, version = '']) => version).sort(
      byNumbers.compare,
    )[0] ?? '0'
  )
}

/** Of the packages that production uses on Linux, the newest of the Nodes that an optional one needs. */
function oldestNodeForAll(): string {
  const optional = Object.values(packages).filter(({ dev, optional, os }) => optional && !dev && os?.includes('linux'))
  const versions = optional.map((each) => oldestOf(each.engines?.node ?? '')).sort(byNumbers.compare)
  return versions.at(-1)?.replace(/\.0$/, '') ?? ''
}

test('README and docs/deploying.md name the oldest Node with which npm ci installs all packages', () => {
  const oldest = oldestNodeForAll()
  assert.match(oldest, /^\d+\.\d+$/)
  for (const document of ['README.md', 'docs/deploying.md']) {
    const named = Array.from(
      readFileSync(document, 'utf8').matchAll(/Node\s(\d+\.\d+) or later(?! yourself)/g),
      ([, version]) => version,
    )
    assert.deepEqual(named, [oldest], document)
  }
})

test('docs/production.md installs the Node that the service needs, not that of the system', () => {
  const guide = readFileSync('docs/production.md', 'utf8')
  const [major = ''] = /\d+/.exec(engines.node) ?? []
  const [setup = '', ...others] =
    guide.match(/^curl \S+ https:\/\/deb\.nodesource\.com\/setup_\d+\.x \| bash -$/gm) ?? []
  assert.match(setup, new RegExp(`setup_${major}\\.x `))
  assert.deepEqual(others, [])
  const install = guide.indexOf('apt-get install -y nodejs\n')
  assert.ok(guide.indexOf(setup) < install && install < guide.indexOf('npm ci --omit=dev --ignore-scripts\n'))
})

test('docs/production.md joins the network of Chatwoot with files and a variable that deploy/ has', () => {
  const guide = readFileSync('docs/production.md', 'utf8')
  const [, files = ''] = /^echo 'COMPOSE_FILE=(\S+)' >> \.env$/m.exec(guide) ?? []
  assert.deepEqual(files.split(':'), ['compose.yml', 'compose.chatwoot.yml'])
  assert.ok(files.split(':').every((file) => existsSync(`deploy/${file}`)))
  const [, network = ''] = /^echo '(\w+)=chatwoot_default' >> \.env /m.exec(guide) ?? []
  assert.match(
    readFileSync('deploy/compose.chatwoot.yml', 'utf8'),
    new RegExp(`name: \\$\\{${network}:-chatwoot_default\\}`),
  )
})
