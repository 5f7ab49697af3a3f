// What was under way at a node that is killed: an open pairing, and a large file.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { owner as number } from '../../harness/instance-api.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { kill } from './harness/faults.ts'
import { patienceMs } from './harness/node-set.ts'

const options = { skip: withoutPostgres, timeout: 600_000 }
const size = { nodes: 2, accounts: 1, customersPerAccount: 1 }
const largestFile = 64 * 1024 ** 2

/** The code of an open pairing, as any node shows it. */
async function codeOf(stage: ClusterStage, instance: string): Promise<string> {
  let code = ''
  const isShown = async () => {
    const { status, text } = await stage.ask({ method: 'GET', path: `/api/instances/${instance}/qr?format=text` })
    code = status === 200 ? text : ''
    return code !== ''
  }
  await waitUntil('a code is shown', isShown, { timeoutMs: patienceMs })
  return code
}

async function reaches(stage: ClusterStage, instance: string, expected: string): Promise<void> {
  let state = ''
  const isThere = async () => {
    state = (await stage.ask({ method: 'GET', path: `/api/instances/${instance}/state` })).text
    return state.includes(`"state":"${expected}"`)
  }
  await waitUntil(`${instance} is ${expected}`, isThere, { timeoutMs: patienceMs, instead: () => state })
}

test('a pairing that is open at a killed node is begun again at another one, and pairs once', options, async () => {
  await using stage = await ClusterStage.open(size)
  const phone = stage.parts.network.account({ phone: number })
  assert.equal((await stage.post('/api/instances', { name: 'paired' })).status, 201)
  const before = await codeOf(stage, 'paired')
  const killed = await stage.ownerOf('paired')
  await killed.end('SIGKILL')
  await reaches(stage, 'paired', 'disconnected')
  assert.notEqual(await stage.ownerOf('paired'), killed)
  assert.equal((await stage.post('/api/instances/paired/refresh-qr', {})).status, 200)
  const code = await codeOf(stage, 'paired')
  assert.notEqual(code, before)
  await phone.scan(code)
  await reaches(stage, 'paired', 'ready')
  assert.equal(phone.companions.length, 1)
  await stage.assertNothingWrong()
})

test('a file of 64 MB that is on its way at a killed node arrives once, whole', options, async () => {
  await using stage = await ClusterStage.open(size)
  const { network, helpdesk, phones } = stage.parts
  const [phone] = phones
  const [customer] = network.people()
  assert.ok(phone && customer)
  const posts = { kind: 'status', status: 503, method: 'POST', path: /\/messages$/ } as const
  await helpdesk.fault(posts)
  const { id } = customer.media(phone, 'document', { bytes: Buffer.alloc(largestFile, 7), fileName: 'film.bin' })
  await waitUntil('the node fetches the file', () => network.media.downloads > 0)
  await kill(stage, await stage.ownerOf('n0'))
  await helpdesk.clearFaults()
  const arrived = await helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id, patienceMs)
  assert.deepEqual(
    arrived.files.map(({ bytes }) => bytes.length),
    [largestFile],
  )
  assert.ok(network.media.downloads > 1, 'the other node fetched it too')
  assert.equal(helpdesk.messages().filter(({ sourceId }) => sourceId === id).length, 1)
})
