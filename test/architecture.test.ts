// Checks the layout of the house: which room may import which, which room owns which library, how full a folder may get.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

type Import = { file: string; target: string }

const storageRooms = ['storage', 'storage/engine', 'storage/stores']

/**
 * A room is a folder of `src` that is a key here; the longest key that is a prefix of a file is its room.
 * `http` stands for its own files only, not for `http/routes`.
 */
const roomImports: Record<string, readonly string[]> = {
  lib: [],
  core: ['lib'],
  config: ['core', 'lib'],
  'storage/migrations': ['lib'],
  'storage/engine': ['lib', 'storage/migrations'],
  storage: ['core', 'lib', 'storage/engine'],
  'storage/stores': ['core', 'lib', 'storage', 'storage/engine'],
  ledger: ['core', 'lib', ...storageRooms],
  guard: ['core', 'lib', ...storageRooms],
  tenants: ['core', 'lib', 'ledger', ...storageRooms],
  lifecycle: ['core', 'lib', 'ledger', ...storageRooms],
  nodes: ['core', 'lib', ...storageRooms],
  instances: ['core', 'lib', 'ledger', 'lifecycle', 'nodes', ...storageRooms],
  'bridge/people': ['core', 'lib', ...storageRooms],
  'bridge/conversations': ['core', 'lib', 'bridge/people', ...storageRooms],
  'bridge/sync': ['core', 'lib', 'ledger', 'bridge/people', 'bridge/conversations', ...storageRooms],
  'bridge/contacts/import': [
    ...['core', 'lib', 'jobs', 'bridge/people', 'bridge/conversations', 'bridge/sync', ...storageRooms],
  ],
  'bridge/contacts/repair': ['core', 'lib', 'jobs', 'bridge/conversations', ...storageRooms],
  'bridge/calls': ['core', 'lib', ...storageRooms],
  'bridge/groups': ['core', 'lib', 'bridge/people'],
  'bridge/inbound/files': ['core', 'lib', 'bridge/people', ...storageRooms],
  'bridge/inbound/compose': ['core', 'lib', 'bridge/people', 'bridge/conversations', ...storageRooms],
  'bridge/inbound': [
    ...['core', 'lib', 'ledger', 'bridge/people', 'bridge/conversations', 'bridge/posting', ...storageRooms],
    ...['bridge/inbound/files', 'bridge/inbound/compose'],
  ],
  'bridge/posting': ['core', 'lib', 'bridge/conversations', ...storageRooms],
  jobs: ['core', 'lib', ...storageRooms],
  live: ['core', 'lib', ...storageRooms],
  operations: ['core', 'lib', ...storageRooms],
  history: [
    ...['core', 'lib', 'ledger', 'jobs', 'bridge/people', 'bridge/conversations', 'bridge/posting', ...storageRooms],
    ...['bridge/inbound/files', 'bridge/inbound/compose'],
  ],
  adoption: ['core', 'lib', 'jobs', 'bridge/people', 'bridge/conversations', ...storageRooms],
  'bridge/outbound/compose': ['core', 'lib', ...storageRooms],
  'bridge/outbound/send': [
    ...['core', 'lib', 'ledger', 'guard', 'bridge/people', ...storageRooms],
    'bridge/outbound/compose',
  ],
  'bridge/outbound/queue': ['core', 'lib', 'guard', 'bridge/outbound/send', ...storageRooms],
  'bridge/outbound/accept': [
    ...['core', 'lib', 'guard', 'bridge/conversations', ...storageRooms],
    ...['bridge/outbound/queue', 'bridge/outbound/send'],
  ],
  'bridge/outbound/direct': [
    ...['core', 'lib', 'guard', 'bridge/conversations', ...storageRooms],
    ...['bridge/outbound/accept', 'bridge/outbound/send'],
  ],
  'bridge/outbound/stand-in': [
    ...['core', 'lib', 'bridge/people', 'bridge/conversations', ...storageRooms],
    ...['bridge/outbound/accept', 'bridge/outbound/queue', 'bridge/outbound/send'],
  ],
  'bridge/outbound': [
    ...['core', 'lib', 'bridge/conversations', ...storageRooms],
    ...['bridge/outbound/accept', 'bridge/outbound/send', 'bridge/outbound/compose'],
  ],
  'network/library': ['lib'],
  'network/account': ['core', 'lib', 'network/library', ...storageRooms],
  'network/decode': ['core', 'network/library'],
  'network/version': ['core', 'lib', 'network/library', ...storageRooms],
  'network/connection': ['core', 'lib', 'network/library', 'network/account', 'network/version'],
  'network/queries': ['core', 'lib', 'network/library', 'network/decode'],
  'network/groups': ['core', 'lib', 'network/library', 'network/decode', 'network/queries'],
  'network/files': ['core', 'lib', 'network/library', 'network/queries'],
  'network/history': [
    ...['core', 'lib', 'network/library', 'network/account', 'network/decode', 'network/files', 'network/queries'],
  ],
  'network/labels': ['core', 'lib', 'network/library', 'network/account', 'network/connection', 'network/decode'],
  'network/receive': [
    ...['core', 'lib', 'network/library', 'network/account', 'network/connection', 'network/decode'],
    ...storageRooms,
  ],
  'network/send': [
    ...['core', 'lib', 'network/library', 'network/account', 'network/decode', 'network/queries', 'network/files'],
  ],
  network: [
    ...['core', 'lib', 'network/library', 'network/account', 'network/connection', 'network/decode'],
    ...[
      'network/version',
      'network/queries',
      'network/groups',
      'network/files',
      'network/history',
      'network/labels',
      'network/receive',
      'network/send',
      ...storageRooms,
    ],
  ],
  traces: ['core', 'lib'],
  downstream: ['core', 'lib'],
  setup: ['core', 'lib', 'tenants', 'instances', 'downstream', ...storageRooms],
  'setup/checks': ['core', 'lib', 'tenants', 'lifecycle', 'downstream', 'bridge/conversations', 'setup'],
  http: ['core', 'lib', 'instances'],
  'http/reference': ['core'],
  'http/webhook': [
    ...['core', 'lib', 'tenants', 'instances', 'downstream', 'http'],
    ...['bridge/conversations', 'bridge/outbound', 'bridge/outbound/accept'],
  ],
  'http/routes': [
    ...['core', 'lib', 'ledger', 'guard', 'tenants', 'lifecycle', 'instances', ...storageRooms],
    ...['bridge/conversations', 'bridge/inbound', 'bridge/outbound', 'bridge/sync', 'bridge/groups', 'bridge/people'],
    ...['bridge/contacts/import', 'bridge/contacts/repair', 'bridge/outbound/direct'],
    ...['adoption', 'history', 'jobs', 'live', 'operations', 'setup', 'setup/checks', 'http', 'http/webhook'],
    'http/forwarding',
  ],
  'http/session': ['core', 'lib', 'http'],
  'http/forwarding': ['core', 'lib', 'nodes', 'http'],
  'http/internal': ['core', 'lib', 'nodes', 'http', 'http/forwarding'],
  'http/server': [
    'core',
    'lib',
    'http',
    'http/forwarding',
    'http/reference',
    'http/routes',
    'http/session',
    ...storageRooms,
  ],
}

/** The composition root, which may import everything and which only `main` imports. */
const root = 'app'

const mostFilesInFolder = 25

/** Which files may use a package or builtin. A package that is not listed here is free. */
const doors: Record<string, readonly string[]> = {
  baileys: ['src/network/', 'sim/'],
  kysely: ['src/storage/'],
  pg: ['src/storage/', 'src/downstream/database/'],
  'node:sqlite': ['src/storage/'],
  fastify: ['src/http/', 'sim/'],
  'prom-client': ['src/ledger/'],
  '@opentelemetry': ['src/traces/'],
  pino: ['src/lib/log.ts'],
  'pino-pretty': ['src/lib/log.ts'],
  undici: ['src/lib/egress'],
  qrcode: ['src/http/', 'cli/'],
  sharp: ['src/network/', 'src/downstream/'],
  ws: ['sim/'],
}

const files = globSync(['src/**/*.ts', 'sim/**/*.ts', 'cli/**/*.ts', 'demo/**/*.ts'])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts'))
const imports = files.flatMap(importsOf)

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8')
  const statement =
    /^(?:import|export)\s+(?:type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+\.ts)'/gm
  return [...source.matchAll(statement)].map(([, from, bare, dynamic, worker]) => ({
    file,
    target: resolveTarget(file, from ?? bare ?? dynamic ?? worker ?? ''),
  }))
}

function resolveTarget(file: string, target: string): string {
  return target.startsWith('.') ? normalize(join(dirname(file), target)).replaceAll('\\', '/') : target
}

function roomOf(file: string): string | undefined {
  const rooms = [...Object.keys(roomImports), root].filter((room) => file.startsWith(`src/${room}/`))
  return rooms.sort((one, other) => other.length - one.length)[0]
}

test('every file of src but main has a room', () => {
  const homeless = files.filter((file) => file.startsWith('src/') && roomOf(file) === undefined)
  assert.deepEqual(homeless, ['src/main.ts'])
  assert.ok(imports.length > 100, 'the imports were found')
})

test('a file belongs to the room with the longest name that fits', () => {
  assert.equal(roomOf('src/bridge/outbound/send/recipients.ts'), 'bridge/outbound/send')
  assert.equal(roomOf('src/bridge/outbound/agent-activity.ts'), 'bridge/outbound')
})

test('a room imports only the rooms it may', () => {
  const wrong = imports.filter(({ file, target }) => {
    const from = roomOf(file)
    const to = roomOf(target)
    if (from === undefined || from === root || !target.startsWith('src/')) return false
    return to === undefined || (to !== from && !roomImports[from]?.includes(to))
  })
  assert.deepEqual(wrong, [])
})

test('the two directions of a message never import each other', () => {
  const wrong = imports.filter(
    ({ file, target }) =>
      (file.startsWith('src/bridge/inbound/') && target.startsWith('src/bridge/outbound/')) ||
      (file.startsWith('src/bridge/outbound/') && target.startsWith('src/bridge/inbound/')),
  )
  assert.deepEqual(wrong, [])
})

test('only main imports the composition root', () => {
  const importers = imports.filter(({ file, target }) => roomOf(target) === root && roomOf(file) !== root)
  assert.deepEqual([...new Set(importers.map(({ file }) => file))], ['src/main.ts'])
})

test('no folder of src holds more than 25 source files, except for the numbered migrations', () => {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  // A migration stays in its place for ever, and its number is its order.
  counts.delete('src/storage/migrations')
  const crowded = [...counts].filter(([folder, count]) => folder.startsWith('src') && count > mostFilesInFolder)
  assert.deepEqual(crowded, [])
})

test('of downstream the HTTP room sees only the callback and its signature', () => {
  const wrong = imports.filter(
    ({ file, target }) =>
      file.startsWith('src/http/') && roomOf(target) === 'downstream' && !/\/(callback|signature)\.ts$/.test(target),
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

test('traces are loaded only when they are switched on', () => {
  const loaders = files.filter((file) => /from '\.\.?\/.*traces\//.test(readFileSync(file, 'utf8')))
  assert.deepEqual(loaders, [])
  const imported = imports.filter(({ file, target }) => roomOf(target) === 'traces' && roomOf(file) !== 'traces')
  assert.deepEqual(imported, [{ file: 'src/app/create-traces.ts', target: 'src/traces/open-traces.ts' }])
})

test('the simulator imports nothing of the service', () => {
  assert.deepEqual(
    imports.filter(({ file, target }) => file.startsWith('sim/') && target.startsWith('src/')),
    [],
  )
})

test('the programs of the terminal use settings, backups and the name of an owner, and ask for the rest over HTTP', () => {
  const free = ['src/core/', 'src/lib/', 'src/config/', 'src/storage/backup/', 'src/nodes/owner-name.ts']
  const wrong = imports.filter(
    ({ file, target }) =>
      file.startsWith('cli/') && /^(?:src|sim)\//.test(target) && !free.some((door) => target.startsWith(door)),
  )
  assert.deepEqual(wrong, [])
})

test('the demo uses the simulators and runs the service as a process', () => {
  const wrong = imports.filter(({ file, target }) => file.startsWith('demo/') && /^(?:src|test)\//.test(target))
  assert.deepEqual(wrong, [])
})

test('only main reads the environment', () => {
  const readers = files.filter((file) => file.startsWith('src/') && /process\.env\b/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(readers, ['src/main.ts'])
})

test('nothing is imported in a circle, types included', () => {
  const graph = new Map(files.map((file) => [file, new Set<string>()]))
  for (const { file, target } of imports) graph.get(file)?.add(target)
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
