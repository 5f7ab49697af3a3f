import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadConfig } from './config.ts'

const secret = 's'.repeat(32)
const usable = {
  DATABASE_URL: 'postgres://u:p@h/d',
  SERVICE_NODE_LISTEN: '10.0.0.5:8091',
  SERVICE_NODE_SECRET: secret,
}

test('a node is reached where it listens, unless SERVICE_NODE_URL says otherwise', () => {
  const { nodes } = loadConfig(usable)
  assert.deepEqual(nodes, {
    listen: { host: '10.0.0.5', port: 8091 },
    url: 'http://10.0.0.5:8091',
    secret,
    cells: true,
    capacity: 100,
  })
  const named = { SERVICE_NODE_LISTEN: '0.0.0.0:8091', SERVICE_NODE_URL: 'https://node-1.mesh/' }
  assert.equal(loadConfig({ ...usable, ...named }).nodes.url, 'https://node-1.mesh')
})

test('a node listens on an IPv6 address', () => {
  const { nodes } = loadConfig({ ...usable, SERVICE_NODE_LISTEN: '[fd00::5]:8091' })
  assert.deepEqual(nodes.listen, { host: 'fd00::5', port: 8091 })
  assert.equal(nodes.url, 'http://[fd00::5]:8091')
})

describe('settings of nodes that do not fit together stop the start and say what to do', () => {
  const cases: [what: string, environment: Record<string, string>, message: RegExp][] = [
    [
      'SQLite',
      { DATABASE_URL: '' },
      /needs PostgreSQL, because an SQLite file belongs to one process; set DATABASE_URL/,
    ],
    ['no secret', { SERVICE_NODE_SECRET: '' }, /needs SERVICE_NODE_SECRET, the same on every node; "openssl rand/],
    [
      'any address',
      { SERVICE_NODE_LISTEN: '0.0.0.0:8091' },
      /set SERVICE_NODE_URL to one, such as http:\/\/10.0.0.5:8091/,
    ],
    ['any IPv6 address', { SERVICE_NODE_LISTEN: '[::]:8091' }, /is no address that other nodes can reach/],
    ['the public port', { PORT: '8091' }, /has the port of PORT/],
    [
      'a URL without a listener',
      { SERVICE_NODE_LISTEN: '', SERVICE_NODE_URL: 'http://10.0.0.5:8091' },
      /SERVICE_NODE_URL=http:\/\/10.0.0.5:8091: has no effect without SERVICE_NODE_LISTEN/,
    ],
  ]
  for (const [what, environment, message] of cases) {
    test(what, () => {
      assert.throws(() => loadConfig({ ...usable, ...environment }), { message })
    })
  }

  test('every problem is named at once', () => {
    const message = /needs PostgreSQL[^]*needs SERVICE_NODE_SECRET[^]*no address that other nodes can reach/
    assert.throws(() => loadConfig({ SERVICE_NODE_LISTEN: '0.0.0.0:8091' }), { message })
  })
})

describe('a value that is no address, URL or secret of a node is refused', () => {
  const cases: [name: string, value: string][] = [
    ['SERVICE_NODE_LISTEN', '8091'],
    ['SERVICE_NODE_LISTEN', '10.0.0.5'],
    ['SERVICE_NODE_LISTEN', '10.0.0.5:0'],
    ['SERVICE_NODE_LISTEN', '10.0.0.5:65536'],
    ['SERVICE_NODE_LISTEN', '10.0.0.0/8:8091'],
    ['SERVICE_NODE_LISTEN', 'fd00::5:8091'],
    ['SERVICE_NODE_LISTEN', '[10.0.0.5]:8091'],
    ['SERVICE_NODE_LISTEN', 'http://10.0.0.5:8091'],
    ['SERVICE_NODE_URL', '10.0.0.5:8091'],
    ['SERVICE_NODE_URL', 'ws://10.0.0.5:8091'],
    ['SERVICE_NODE_URL', 'http://10.0.0.5:8091/node'],
    ['SERVICE_NODE_URL', 'http://10.0.0.5:8091?a=1'],
    ['SERVICE_NODE_URL', 'http://u:p@10.0.0.5:8091'],
    ['SERVICE_NODE_SECRET', 's'.repeat(31)],
    ['SERVICE_NODE_CAPACITY', '0'],
    ['SERVICE_POSTGRES_CONNECTIONS', '1'],
  ]
  for (const [name, value] of cases) {
    test(`${name}=${value}`, () => {
      assert.throws(
        () => loadConfig({ ...usable, [name]: value }),
        (error: Error) => error.message.includes(`${name}=`) && error.message.includes(': takes '),
      )
    })
  }

  test('a secret is not printed', () => {
    assert.throws(() => loadConfig({ ...usable, SERVICE_NODE_SECRET: 'canary' }), { message: /SECRET=\[set\]: takes/ })
  })
})
