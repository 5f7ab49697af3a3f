import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newNode } from '../../src/app/nodes/new-node.ts'
import { settingsOfCell } from '../../src/config/cell-settings.ts'
import { loadConfig } from '../../src/config/config.ts'

const node = loadConfig({
  DATABASE_URL: 'postgres://db/causeway',
  SERVICE_API_TOKEN: 'token',
  SERVICE_NODE_LISTEN: '10.0.0.5:8091',
  SERVICE_NODE_SECRET: 's'.repeat(32),
})
const cell = settingsOfCell(node, 'http://10.0.0.5:8091/cells/k')

test('a cell listens for its node alone, on free ports, and other nodes reach it under the given address', () => {
  const loopback = { host: '127.0.0.1', port: 0 }
  assert.deepEqual([cell.nodes.listen, { host: cell.http.host, port: cell.http.port }], [loopback, loopback])
  assert.equal(cell.nodes.url, 'http://10.0.0.5:8091/cells/k')
})

test('a cell has no capacity and few connections to the database', () => {
  assert.deepEqual([cell.nodes.capacity, cell.storage.connections], [0, 4])
  const frugal = { ...node, storage: { ...node.storage, connections: 2 } }
  assert.equal(settingsOfCell(frugal, '').storage.connections, 2)
})

test('the settings of a cell do not differ from those of its node', () => {
  assert.notEqual(cell.lifecycle.shutdownGrace, node.lifecycle.shutdownGrace)
  assert.equal(newNode(cell, '1').settingsHash, newNode(node, '1').settingsHash)
  const other = { ...node, sync: { ...node.sync, typing: !node.sync.typing } }
  assert.notEqual(newNode(other, '1').settingsHash, newNode(node, '1').settingsHash)
})
