// Instances whose nodes die go to a cell: the one that kills is found there, and a cell ends with the node that started it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { patienceMs } from './harness/node-set.ts'
import { Poison } from './harness/poison.ts'

const options = { skip: withoutPostgres, timeout: 600_000 }

type Health = { status: string; checks: { quarantined?: string[] } }
type Nodes = { nodes: { name: string; is_cell: boolean; held: number }[] }

async function read<Body>(stage: ClusterStage, path: string): Promise<Body> {
  const { status, text } = await stage.ask({ method: 'GET', path })
  assert.equal(status, 200, text)
  return JSON.parse(text) as Body
}

const areOnline = ({ parts: { phones } }: ClusterStage, but: readonly number[] = []) =>
  phones.every(({ companion }, index) => but.includes(index) || (companion.isConnected && companion.live))

/** The process that started this one; Linux only, as the signals of these tests. */
function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test(
  'an instance that ends its processes ends two nodes at most, and is in quarantine until it is restarted',
  options,
  async (t) => {
    await using stage = await ClusterStage.open({
      nodes: 3,
      accounts: 4,
      customersPerAccount: 1,
      hasCells: true,
    })
    const { owners } = stage.nodes
    const poison = new Poison(stage, 0)
    const isFound = async () => (await owners.quarantined()).length > 0
    const story = () => poison.killed
    await waitUntil('the instance is in quarantine', isFound, { timeoutMs: 2 * patienceMs, instead: story })
    t.diagnostic(JSON.stringify(poison.killed))

    assert.deepEqual(await owners.quarantined(), ['n0'])
    assert.ok(poison.killedNodes.length <= 2, `it ended ${poison.killedNodes.join(', ')}`)
    assert.ok(stage.nodes.living.length >= 1)
    await waitUntil('all others are online', () => areOnline(stage, [0]), { timeoutMs: patienceMs })
    const { status, checks } = await read<Health>(stage, '/api/health')
    assert.deepEqual([status, checks.quarantined], ['degraded', ['n0']])

    await poison.end()
    // Not over the balancer, which gives a node little time. A busy machine may move the instance just now: then it is asked again.
    const [{ url = '' } = {}] = stage.nodes.living
    let answered = ''
    const isRestarted = async () => {
      const answer = await fetch(`${url}/api/instances/n0/restart`, { method: 'POST' })
      answered = await answer.text()
      assert.ok([200, 503, 504].includes(answer.status), answered)
      return answer.status === 200
    }
    await waitUntil('the instance is restarted', isRestarted, { instead: () => answered })
    await waitUntil('all are online', () => areOnline(stage), { timeoutMs: patienceMs })
    assert.deepEqual(await owners.quarantined(), [])
    assert.equal((await owners.holderOf('n0'))?.isCell, false)
    await stage.assertNothingWrong()
  },
)

test(
  'a cell serves suspects beside its node and ends with it, also when it is killed; another cell takes them',
  options,
  async () => {
    await using stage = await ClusterStage.open({
      nodes: 2,
      accounts: 2,
      customersPerAccount: 1,
      hasCells: true,
    })
    const { owners } = stage.nodes
    stage.traffic.start()
    const inCell = async (but?: number) => {
      const holder = await owners.holderOf('n0')
      return holder?.isCell === true && holder.pid !== but && areOnline(stage)
    }
    await owners.makeSuspect('n0')
    await waitUntil('a cell holds the suspect', () => inCell(), { timeoutMs: patienceMs })
    const cell = await owners.holderOf('n0')
    assert.ok(cell)

    const { nodes } = await read<Nodes>(stage, '/api/nodes')
    assert.deepEqual(
      nodes.filter(({ is_cell: isCell }) => isCell).map(({ name, held }) => [name, held]),
      [[cell.name.split(' at ')[0], 1]],
    )
    for (const { url = '' } of stage.nodes.living) {
      const { status } = await fetch(`${url}/api/instances/n0/ban-risk`)
      assert.equal(status, 200, 'each node reaches the cell')
    }

    const parent = stage.nodes.living.find(({ process: { pid } }) => pid === parentOf(cell.pid))
    assert.ok(parent, 'a node has started it')
    parent.process.send('SIGKILL')
    await parent.process.exited()
    await waitUntil('the cell has ended', () => !isRunning(cell.pid), { timeoutMs: patienceMs })
    await waitUntil('another cell holds the suspect', () => inCell(cell.pid), { timeoutMs: patienceMs })
    assert.equal(await owners.crashesOf('n0'), 2, 'a cell that ends in order is no crash')
    await stage.assertNothingWrong()

    const [last] = stage.nodes.living
    const next = await owners.holderOf('n0')
    assert.ok(last && next)
    await last.end('SIGTERM')
    assert.equal(isRunning(next.pid), false, 'a node that stops ends its cells')
  },
)
