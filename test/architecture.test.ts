// The import table of docs/architecture.md, checked: who may use whom, which room owns which library, no cycles.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

type Import = { file: string; target: string; isType: boolean }

const roomImports: Record<string, readonly string[]> = {
  lib: [],
  core: ['lib'],
  storage: ['core', 'lib'],
  ledger: ['core', 'lib', 'storage'],
  guard: ['core', 'lib', 'storage'],
  tenants: ['core', 'lib', 'storage', 'ledger'],
  lifecycle: ['core', 'lib', 'storage', 'ledger'],
  instances: ['core', 'lib', 'storage', 'ledger', 'lifecycle'],
  bridge: ['core', 'lib', 'storage', 'ledger', 'guard', 'tenants', 'lifecycle'],
  history: ['core', 'lib', 'storage', 'ledger', 'tenants', 'bridge'],
  network: ['core', 'lib', 'storage'],
  downstream: ['core', 'lib', 'storage'],
  http: [
    'core',
    'lib',
    'storage',
    'ledger',
    'guard',
    'tenants',
    'lifecycle',
    'instances',
    'bridge',
    'history',
    'downstream',
  ],
}

/** Which files may use a package or builtin; whatever is not listed is free. */
const doors: Record<string, readonly string[]> = {
  baileys: ['src/network/', 'sim/'],
  kysely: ['src/storage/'],
  pg: ['src/storage/'],
  'node:sqlite': ['src/storage/'],
  fastify: ['src/http/', 'sim/'],
  'prom-client': ['src/ledger/metrics.ts'],
  pino: ['src/lib/log.ts'],
  'pino-pretty': ['src/lib/log.ts'],
  undici: ['src/lib/egress'],
  qrcode: ['src/http/'],
  sharp: ['src/network/', 'src/downstream/'],
  ws: ['sim/'],
}

const files = globSync(['src/**/*.ts', 'sim/**/*.ts'])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts'))
const imports = files.flatMap(importsOf)

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8')
  const statement =
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+\.ts)'/gm
  return [...source.matchAll(statement)].map(([, type, from, bare, dynamic, worker]) => ({
    file,
    target: resolveTarget(file, from ?? bare ?? dynamic ?? worker ?? ''),
    isType: type !== undefined,
  }))
}

function resolveTarget(file: string, target: string): string {
  return target.startsWith('.') ? normalize(join(dirname(file), target)).replaceAll('\\', '/') : target
}

function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

test('the table knows every room', () => {
  const rooms = new Set(files.flatMap((file) => roomOf(file) ?? []))
  assert.deepEqual(
    [...rooms].filter((room) => !(room in roomImports)),
    [],
  )
  assert.ok(imports.length > 100, 'the imports were found')
})

test('a room imports only the rooms it may', () => {
  const wrong = imports.filter(({ file, target }) => {
    const from = roomOf(file)
    const to = roomOf(target)
    if (from === undefined || !target.startsWith('src/')) return false
    return to === undefined || (to !== from && !roomImports[from]?.includes(to))
  })
  assert.deepEqual(wrong, [])
})

test('of downstream the HTTP room sees only the callback and its signature', () => {
  const wrong = imports.filter(
    ({ file, target }) =>
      roomOf(file) === 'http' && roomOf(target) === 'downstream' && !/\/(callback|signature)\.ts$/.test(target),
  )
  assert.deepEqual(wrong, [])
})

test('a library is used only behind its door', () => {
  const wrong = imports.filter(({ file, target }) => {
    const name = Object.keys(doors).find((each) => target === each || target.startsWith(`${each}/`))
    return name !== undefined && !doors[name]?.some((door) => file.startsWith(door))
  })
  assert.deepEqual(wrong, [])
})

test('the simulator imports nothing of the service', () => {
  assert.deepEqual(
    imports.filter(({ file, target }) => file.startsWith('sim/') && target.startsWith('src/')),
    [],
  )
})

test('only main reads the environment', () => {
  const readers = files.filter((file) => file.startsWith('src/') && /process\.env\b/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(readers, ['src/main.ts'])
})

test('values are imported without a cycle', () => {
  const graph = new Map(files.map((file) => [file, new Set<string>()]))
  for (const { file, target, isType } of imports) if (!isType) graph.get(file)?.add(target)
  assert.deepEqual(findCycle(graph), [])
})

function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

test('the cycle check finds one', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['b'])],
  ])
  assert.deepEqual(findCycle(graph), ['b', 'c', 'b'])
})
