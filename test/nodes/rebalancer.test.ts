// The rebalancer on the real tables. A node is what the table says of it; no process beats for it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Activity } from '../../src/core/nodes/placement.ts'
import { CellStarter } from '../../src/nodes/cells/cell-starter.ts'
import type { BeatView } from '../../src/nodes/look-schedule.ts'
import { Rebalancer } from '../../src/nodes/rebalancer.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { RecordedLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { joinedAt, NodeStage } from '../storage/harness/node-stage.ts'

type Options = { startCell?: () => Promise<void>; activities?: ReadonlyMap<string, Activity> }

class RebalancerStage {
  readonly tables: NodeStage
  readonly clock = new ManualClock(joinedAt + 3_600_000)
  readonly looks: string[] = []
  readonly log = new RecordedLog()
  reads = 0
  /** How often every free instance was placed. */
  allPlaced = 0

  constructor(tables: NodeStage) {
    this.tables = tables
  }

  static async open(...ids: string[]): Promise<RebalancerStage> {
    return new RebalancerStage(await NodeStage.open(...ids))
  }

  /** The rebalancer of a node, and one second of it. */
  rebalancer(id: string, { startCell, activities = new Map() }: Options = {}) {
    const { assignments } = this.tables
    let view: BeatView = { id, nodes: [], free: 0 }
    const rebalancer = new Rebalancer({
      assignments: {
        all: () => {
          this.reads += 1
          return assignments.all()
        },
        deathTimes: () => assignments.deathTimes(),
        moves: () => assignments.moves(),
        place: (placements, now) => assignments.place(placements, now),
        wish: (moves) => assignments.wish(moves),
        dropWish: (instance) => assignments.dropWish(instance),
        quarantine: (held, now) => assignments.quarantine(held, now),
      },
      peers: { look: ({ id: peer }) => Promise.resolve(void this.looks.push(`${id} tells ${peer}`)) },
      view: () => view,
      onAllPlaced: () => (this.allPlaced += 1),
      lookHere: () => void this.looks.push(`${id} looks`),
      activities: () => Promise.resolve(activities),
      cells: startCell ? new CellStarter({ start: startCell, clock: this.clock, log: this.log.log }) : null,
      ...{ clock: this.clock, log: this.log.log },
    })
    const beat = async () => {
      const { nodes, free } = await this.tables.nodes.beat(id)
      view = { id, nodes, free }
    }
    const second = async (count = 1) => {
      for (let each = 0; each < count; each++) {
        await this.clock.advance(1000)
        await beat()
        await rebalancer.tick()
        assert.deepEqual(this.log.withMessage('worker run failed'), [])
      }
    }
    return { rebalancer, beat, second }
  }

  async createAt(node: string, count: number): Promise<void> {
    for (let index = 0; index < count; index++) await this.tables.create(`${node}-${index}`, node)
  }

  async createFree(count: number): Promise<void> {
    for (let index = 0; index < count; index++) await this.tables.createFree(`free-${index}`)
  }

  async counts(): Promise<Record<string, number>> {
    const owners = Object.values(await this.tables.owners()).map((owner) => owner ?? 'free')
    return Object.fromEntries(
      [...new Set(owners)].sort().map((id) => [id, owners.filter((each) => each === id).length]),
    )
  }

  async wishes(): Promise<string[]> {
    return (await this.tables.assignments.moves()).map(({ instance, to }) => `${instance} to ${to}`)
  }

  /** Every owner gives away what it is asked for. Returns the number. */
  async fulfil(): Promise<number> {
    const moves = await this.tables.assignments.moves()
    for (const { instance, to } of moves) {
      await this.tables.assignments.handOver(await this.tables.holdOf(instance), to, this.clock.now())
    }
    return moves.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tables[Symbol.asyncDispose]()
  }
}

describe('rebalancer', { skip: withoutPostgres }, () => {
  test('the first node places free instances and tells those that got some', async () => {
    await using stage = await RebalancerStage.open('a', 'b', 'c')
    await stage.createAt('c', 4)
    await stage.createFree(8)
    await stage.rebalancer('a').second()
    assert.deepEqual(await stage.counts(), { a: 4, b: 4, c: 4 })
    assert.deepEqual(stage.looks, ['a looks', 'a tells b'])
  })

  test('another node places what was free for three seconds, and moves nothing', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('a', 20)
    const { second } = stage.rebalancer('b')
    await second(60)
    await stage.createFree(2)
    await second(3)
    assert.equal((await stage.counts())['free'], 2)
    await second()
    assert.deepEqual(await stage.counts(), { a: 20, b: 2 })
    assert.deepEqual(await stage.wishes(), [])
  })

  test('instances that cannot leave a draining node now do not keep the others there', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('b', 12)
    await stage.tables.nodes.drain('b')
    const { second } = stage.rebalancer('a')
    await second()
    const busy = (await stage.tables.assignments.moves()).map(({ instance }) => instance)
    for (const instance of busy) await stage.tables.assignments.dropWish(instance)
    await second()
    const asked = (await stage.tables.assignments.moves()).map(({ instance }) => instance)
    const others = asked.filter((instance) => !busy.includes(instance))
    assert.deepEqual([busy.length, asked.length, others.length], [8, 8, 4])
  })

  test('two nodes that place at once give each instance one owner', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createFree(40)
    const [one, other] = [stage.rebalancer('a'), stage.rebalancer('b')]
    await other.second(3)
    await Promise.all([one.beat(), other.beat()])
    await stage.clock.advance(3000)
    await Promise.all([one.rebalancer.tick(), other.rebalancer.tick()])
    assert.deepEqual(await stage.counts(), { a: 20, b: 20 })
    assert.deepEqual(await stage.tables.assignments.free(), [])
  })

  test('a node that joined gets instances after 30 seconds, four a second, until all are even', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('a', 20)
    const { second } = stage.rebalancer('a')
    await second(30)
    assert.deepEqual(await stage.wishes(), [])
    await second()
    assert.equal((await stage.wishes()).length, 4)
    assert.deepEqual(stage.looks, ['a looks'])
    await second(3)
    assert.equal((await stage.wishes()).length, 8, 'no more than eight are under way')
    await stage.fulfil()
    await second(3)
    assert.equal(await stage.fulfil(), 1)
    await second(60)
    assert.deepEqual(await stage.counts(), { a: 11, b: 9 })
    assert.deepEqual(await stage.wishes(), [])
  })

  test('a node that drains is emptied at once, eight at a time', async () => {
    await using stage = await RebalancerStage.open('a', 'b', 'c')
    await stage.createAt('c', 20)
    await stage.tables.nodes.drain('c')
    const { second } = stage.rebalancer('a')
    const fulfilled: number[] = []
    for (let each = 0; each < 4; each++) {
      await second()
      fulfilled.push(await stage.fulfil())
    }
    assert.deepEqual(fulfilled, [8, 8, 4, 0])
    assert.deepEqual(await stage.counts(), { a: 10, b: 10 })
  })

  test('a wish that is not fulfilled within a minute makes room for one that was not asked yet', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('b', 20)
    await stage.tables.nodes.drain('b')
    const { second } = stage.rebalancer('a')
    const asked = new Set<string>()
    for (const wishes of [8, 16, 20]) {
      await second()
      const first = await stage.wishes()
      for (const wish of first) asked.add(wish)
      assert.deepEqual([first.length, asked.size], [8, wishes])
      await second(59)
      assert.deepEqual(await stage.wishes(), first)
    }
  })

  test('pinned instances are not asked to move', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('b', 3)
    await stage.tables.nodes.drain('b')
    const activities = new Map([['b-1', { isPinned: true, isConnected: true, lastUsedAt: 0 }]])
    await stage.rebalancer('a', { activities }).second()
    assert.deepEqual(await stage.wishes(), ['b-0 to a', 'b-2 to a'])
  })

  test('while nothing happens the assignments are read every half minute', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createAt('a', 3)
    await stage.createAt('b', 3)
    const [first, other] = [stage.rebalancer('a'), stage.rebalancer('b')]
    await first.second(40)
    stage.reads = 0
    await first.second(120)
    assert.ok(stage.reads >= 3 && stage.reads <= 4, `${stage.reads} reads`)
    stage.reads = 0
    await other.second(120)
    assert.equal(stage.reads, 0)
  })

  test('it works once a second by itself', async () => {
    await using stage = await RebalancerStage.open('a')
    await stage.createFree(2)
    const { rebalancer, beat } = stage.rebalancer('a')
    await beat()
    await using running = rebalancer
    running.start()
    await stage.clock.advance(999)
    assert.deepEqual(await stage.counts(), { free: 2 })
    await stage.clock.advance(1)
    await waitUntil('the instances are placed', async () => (await stage.counts())['a'] === 2)
  })

  test('a free instance that could not be placed is placed later, and only then none is free', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createFree(2)
    const { second } = stage.rebalancer('a')
    await stage.tables.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'free-0' FOR UPDATE`)
    await second()
    assert.deepEqual([await stage.counts(), stage.allPlaced], [{ b: 1, free: 1 }, 0])
    await stage.tables.locker.release()
    await second()
    assert.deepEqual([await stage.counts(), stage.allPlaced], [{ a: 1, b: 1 }, 1])
  })

  test('one whose cell died beside a node that held nothing gets another cell', async () => {
    await using stage = await RebalancerStage.open('a', 'b')
    await stage.createFree(1)
    await stage.tables.bystander.query(`UPDATE assignments SET crashes = 2, crashed_at = ${stage.clock.now()}`)
    for (const cell of ['cell-0', 'cell-1']) await stage.tables.join(cell, { capacity: 0 })
    const { second } = stage.rebalancer('a', { startCell: () => Promise.resolve() })
    await second()
    assert.deepEqual(await stage.counts(), { 'cell-0': 1 })
    await stage.tables.nodes.bury(await stage.tables.seen('cell-0'), [], stage.clock.now())
    await second()
    await stage.tables.nodes.bury(await stage.tables.seen('b'), [], stage.clock.now())
    await second(4)
    assert.deepEqual(await stage.counts(), { 'cell-1': 1 })
    assert.equal((await stage.tables.assignments.find('free-0'))?.quarantinedAt, null)
  })

  test('suspects wait for a cell; one that kills a cell alone is in quarantine five seconds later', async () => {
    await using stage = await RebalancerStage.open('a')
    await stage.createFree(1)
    await stage.tables.bystander.query(`UPDATE assignments SET crashes = 2, crashed_at = ${stage.clock.now()}`)
    let cells = 0
    const startCell = () => stage.tables.join(`cell-${cells++}`, { capacity: 0 })
    const { second } = stage.rebalancer('a', { startCell })
    await second()
    await waitUntil('the cell has joined', async () => 'cell-0' in (await stage.tables.states()))
    assert.deepEqual(await stage.counts(), { free: 1 })
    await second()
    assert.deepEqual(await stage.counts(), { 'cell-0': 1 })
    await stage.tables.nodes.bury(await stage.tables.seen('cell-0'), [], stage.clock.now())
    await second(4)
    assert.equal((await stage.tables.assignments.find('free-0'))?.quarantinedAt, null)
    await second()
    assert.equal((await stage.tables.assignments.find('free-0'))?.quarantinedAt, stage.clock.now())
    const lines = stage.log.withMessage('an instance kills its nodes, so no node opens it until it is restarted')
    assert.deepEqual(
      lines.map(({ instance }) => instance),
      ['free-0'],
    )
    await second(5)
    assert.deepEqual(await stage.counts(), { free: 1 })
    assert.equal(cells, 1)
  })

  test('one cell starts at a time, and one that does not start is tried again after ten seconds', async () => {
    await using stage = await RebalancerStage.open('a')
    await stage.createFree(1)
    await stage.tables.bystander.query(`UPDATE assignments SET crashes = 2, crashed_at = ${stage.clock.now()}`)
    const starts: PromiseWithResolvers<undefined>[] = []
    const startCell = () => {
      const start = Promise.withResolvers<undefined>()
      starts.push(start)
      return start.promise
    }
    const { second } = stage.rebalancer('a', { startCell })
    await second(20)
    assert.equal(starts.length, 1)
    starts[0]?.reject(new Error('no memory'))
    await second(9)
    assert.equal(starts.length, 1)
    await second(1)
    assert.equal(starts.length, 2)
  })
})
