import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newDatabase, withoutPostgres } from '../../harness/databases.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { settingsChanged } from '../../../src/storage/stores/nodes/assignment-steps.ts'
import { NodeStore } from '../../../src/storage/stores/nodes/node-store.ts'
import { joinedAt, NodeStage, sampleNode } from '../harness/node-stage.ts'
import { recordStatements } from '../harness/recorded-statements.ts'

const minute = 60_000
const at = joinedAt + minute

describe('node store', { skip: withoutPostgres }, () => {
  test('a node that joined beats, and each beat shows every living node by its id', async () => {
    await using stage = await NodeStage.open('b', 'a')
    assert.equal((await stage.nodes.beat('a')).mine, 1)
    await stage.nodes.beat('b')
    const answer = await stage.nodes.beat('a')
    const { mine, version, settings, protocol, free } = answer
    assert.deepEqual([mine, version, settings, protocol, free], [2, 0, 0, 1, 0])
    assert.deepEqual(answer.nodes, [
      { ...sampleNode('a'), state: 'active', beat: 2, joinedAt },
      { ...sampleNode('b'), state: 'active', beat: 1, joinedAt },
    ])
    assert.ok(Math.abs(answer.now - Date.now()) < 60_000, 'the clock of the database is the one of this machine')
  })

  test('a repeated join changes nothing, also after a burial', async () => {
    await using stage = await NodeStage.open('a')
    await stage.nodes.beat('a')
    await stage.join('a', { address: 'http://elsewhere' })
    const seen = (await stage.nodes.beat('a')).nodes
    assert.deepEqual([seen[0]?.address, seen[0]?.beat], ['http://a', 2])
    await stage.nodes.bury(await stage.seen('a'), [], at)
    await stage.join('a')
    assert.equal((await stage.nodes.beat('a')).mine, null)
  })

  test('a buried node learns it with its beat, and sees nothing of itself, also when it is the only one', async () => {
    await using stage = await NodeStage.open('a')
    assert.equal(await stage.nodes.bury(await stage.seen('a'), [], at), true)
    const { mine, nodes, settings } = await stage.nodes.beat('a')
    assert.deepEqual([mine, nodes, settings], [null, [], 0])
  })

  test('a beat that waits for the burial of its node learns of it', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.locker.hold(`UPDATE nodes SET state = 'dead' WHERE id = 'a'`)
    const beat = stage.nodes.beat('a')
    await stage.bystander.blocked(1)
    await stage.locker.commit()
    const { mine, nodes } = await beat
    assert.deepEqual([mine, nodes.map(({ id }) => id)], [null, ['b']])
  })

  test('a beat does not wait for the connections of requests', async () => {
    await using opened = await newDatabase('postgres')
    const { database, location } = opened
    await using bystander = await Bystander.connect(location)
    const nodes = new NodeStore(database)
    await nodes.join(sampleNode('a'), joinedAt)
    await bystander.lock('tenants')
    const stuck = Promise.allSettled(
      Array.from({ length: 12 }, () => database.write(database.query.deleteFrom('tenants'))),
    )
    await bystander.blocked(10)
    assert.equal((await nodes.beat('a')).mine, 1)
    assert.equal(await bystander.waiting(), 10, 'the others still wait')
    await bystander.unlock()
    await stuck
  })

  test('a beat reads no assignment that a living node holds', async () => {
    await using stage = await NodeStage.open('a', 'b', 'dead', 'buried')
    await stage.bystander.query(
      `INSERT INTO assignments (instance, node, epoch, since)
       SELECT 'i' || n, (ARRAY['a', 'b'])[1 + n % 2], n, 1 FROM generate_series(1, 5000) n`,
    )
    for (const id of ['dead', 'buried']) await stage.nodes.end(id, at)
    for (const table of ['assignments', 'nodes']) await stage.bystander.query(`VACUUM ANALYZE ${table}`)
    await using other = await newDatabase('postgres')
    const [beat = ''] = (await recordStatements(other.location)).get('NodeStore.beat') ?? []
    const [found] = await stage.bystander.query(
      `EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ${beat.replaceAll(/\$\d+/g, "'a'")}`,
    )
    const plan = JSON.stringify(found?.['QUERY PLAN'])
    assert.match(plan, /"Relation Name":"assignments"/)
    const counts = plan.matchAll(/"(?:Actual Rows|Rows Removed by \w+)":([\d.]+)/g)
    const most = Math.max(...[...counts].map(([, count]) => Number(count)))
    assert.ok(most < 100, `a step of the plan reads ${most} rows`)
  })

  test('a beat tells of changed settings, and counts the free instances without those in quarantine', async () => {
    await using stage = await NodeStage.open('a')
    await stage.createFree('x')
    await stage.createFree('y')
    await stage.assignments.quarantine(await stage.create('z', 'a'), at)
    await stage.database.write(...settingsChanged(stage.database))
    const { settings, free } = await stage.nodes.beat('a')
    assert.deepEqual([settings, free], [1, 2])
  })

  test('a burial gives the instances to the placements and the rest to no node, and tells the takers', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c', 'd')
    const holds = [await stage.create('x', 'a'), await stage.create('y', 'a'), await stage.create('z', 'a')]
    const other = await stage.create('other', 'd')
    const placements = [
      { instance: 'x', node: 'b' },
      { instance: 'y', node: 'c' },
      { instance: 'other', node: 'b' },
      { instance: 'unknown', node: 'b' },
    ]
    assert.equal(await stage.nodes.bury(await stage.seen('a'), placements, at), true)
    assert.deepEqual(await stage.owners(), { other: 'd', x: 'b', y: 'c', z: null })
    assert.deepEqual(await stage.versions(), { a: 0, b: 1, c: 1, d: 0 })
    assert.deepEqual(await Promise.all(holds.map((hold) => stage.mayWrite(hold))), [false, false, false])
    assert.equal(await stage.mayWrite(other), true)
    assert.equal(await stage.mayWrite(await stage.holdOf('x')), true)
    assert.equal((await stage.assignments.find('x'))?.since, at)
  })

  test('a node that has beaten since it was seen is not buried, and nothing changes', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    const seen = await stage.seen('a')
    await stage.nodes.beat('a')
    assert.equal(await stage.nodes.bury(seen, [{ instance: 'x', node: 'b' }], at), false)
    assert.equal(await stage.mayWrite(hold), true)
    assert.deepEqual(
      [await stage.versions(), await stage.states()],
      [
        { a: 0, b: 0 },
        { a: 'active', b: 'active' },
      ],
    )
  })

  test('a beat that is under way when the node is buried saves it', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const seen = await stage.seen('a')
    await stage.locker.hold(`UPDATE nodes SET beat = beat + 1 WHERE id = 'a'`)
    const burial = stage.nodes.bury(seen, [], at)
    await stage.bystander.blocked(1)
    await stage.locker.commit()
    assert.equal(await burial, false)
  })

  test('of many burials at once one is made, and each instance changes its owner once', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    for (const name of ['x', 'y', 'z']) await stage.create(name, 'a')
    const seen = await stage.seen('a')
    const placements = (node: string) => ['x', 'y', 'z'].map((instance) => ({ instance, node }))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, round) => stage.nodes.bury(seen, placements(round % 2 ? 'b' : 'c'), at)),
    )
    assert.deepEqual(answers.filter(Boolean), [true])
    const taker = (await stage.assignments.find('x'))?.node
    assert.deepEqual(await stage.owners(), { x: taker, y: taker, z: taker })
    assert.deepEqual(
      (await stage.assignments.all()).map(({ crashes }) => crashes),
      [1, 1, 1],
    )
  })

  test('an instance that a transaction locks is left out of a burial; the others move, and it is free afterwards', async () => {
    await using stage = await NodeStage.open('a', 'b')
    for (const name of ['x', 'y', 'z']) await stage.create(name, 'a')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'y' FOR SHARE`)
    const placements = ['x', 'y', 'z'].map((instance) => ({ instance, node: 'b' }))
    assert.equal(await stage.nodes.bury(await stage.seen('a'), placements, at), true)
    assert.deepEqual(await stage.owners(), { x: 'b', y: null, z: 'b' })
    assert.deepEqual(
      (await stage.assignments.free()).map(({ instance }) => instance),
      ['y'],
    )
    assert.equal((await stage.nodes.beat('b')).free, 1)
    assert.deepEqual(await stage.assignments.heldBy('a'), [])
    assert.deepEqual(await stage.assignments.place(placements, at), [], 'it is still locked')
    await stage.locker.release()
    await stage.nodes.prune(at + minute)
    const [placed] = await stage.assignments.place(placements, at + minute)
    const { instance, node, crashes, crashedAt } = placed ?? assert.fail('it is placed')
    assert.deepEqual([instance, node, crashes, crashedAt], ['y', 'b', 1, at + minute])
  })

  test('crashes count together while the next one comes within ten minutes', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c', 'd', 'e')
    await stage.create('x', 'a')
    const counts: unknown[] = []
    const deaths = [
      ['a', 'b', at],
      ['b', 'c', at + 10 * minute],
      ['c', 'd', at + 20 * minute + 1],
      // The clock before was ahead.
      ['d', 'e', at],
    ] as const
    for (const [dead, node, now] of deaths) {
      await stage.nodes.bury(await stage.seen(dead), [{ instance: 'x', node }], now)
      const { crashes, crashedAt } = (await stage.assignments.find('x')) ?? {}
      counts.push([crashes, crashedAt])
    }
    assert.deepEqual(counts, [
      [1, at],
      [2, at + 10 * minute],
      [1, at + 20 * minute + 1],
      [1, at],
    ])
  })

  test('a node that ends frees what it still holds, and that is no crash', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.create('y', 'a')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'y' FOR SHARE`)
    await stage.nodes.end('a', at)
    await stage.nodes.end('a', at + 1)
    await stage.locker.release()
    assert.equal(await stage.mayWrite(hold), false)
    assert.deepEqual(await stage.owners(), { x: null, y: null })
    const placed = await stage.assignments.place(
      [
        { instance: 'x', node: 'b' },
        { instance: 'y', node: 'b' },
      ],
      at,
    )
    assert.deepEqual(
      placed.map(({ crashes, crashedAt }) => [crashes, crashedAt]),
      [
        [0, null],
        [0, null],
      ],
    )
    const ended = stage.database.query.selectFrom('nodes').select('ended_at').where('id', '=', 'a')
    assert.deepEqual(await stage.database.read(ended), [{ ended_at: at }])
  })

  test('a node that drains takes no more, keeps what it holds, and the wishes for it are dropped', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.create('y', 'b')
    await stage.createFree('z')
    await stage.assignments.wish([{ instance: 'y', from: 'b', to: 'a', askedAt: at }])
    await stage.nodes.drain('a')
    assert.deepEqual([await stage.assignments.moves(), (await stage.versions())['b']], [[], 2])
    assert.deepEqual(await stage.assignments.place([{ instance: 'z', node: 'a' }], at), [])
    assert.equal(await stage.mayWrite(hold), true)
    assert.deepEqual(
      (await stage.nodes.beat('a')).nodes.map(({ state }) => state),
      ['draining', 'active'],
    )
    await stage.nodes.end('b', at)
    await stage.nodes.drain('b')
    assert.deepEqual(await stage.states(), { a: 'draining', b: 'dead' })
  })

  test('the end of a node drops the wishes from it and for it, and tells the givers', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    for (const [instance, node] of [
      ['x', 'a'],
      ['y', 'b'],
      ['z', 'b'],
    ] as const)
      await stage.create(instance, node)
    await stage.assignments.wish([
      { instance: 'x', from: 'a', to: 'b', askedAt: at },
      { instance: 'y', from: 'b', to: 'a', askedAt: at },
      { instance: 'z', from: 'b', to: 'c', askedAt: at },
    ])
    await stage.nodes.bury(await stage.seen('a'), [], at)
    assert.deepEqual(
      (await stage.assignments.moves()).map(({ instance }) => instance),
      ['z'],
    )
    assert.deepEqual(await stage.bystander.query('SELECT instance FROM moves'), [{ instance: 'z' }])
    assert.equal((await stage.versions())['b'], 2)
  })

  test('old rows of dead nodes are removed with everything that names them; living nodes stay', async () => {
    await using stage = await NodeStage.open('old', 'young', 'living', 'draining')
    await stage.nodes.drain('draining')
    await stage.nodes.end('old', at)
    await stage.nodes.end('young', at + 1)
    await stage.nodes.prune(at + 1)
    assert.deepEqual(await stage.states(), { draining: 'draining', living: 'active', young: 'dead' })
    assert.deepEqual(Object.keys(await stage.versions()).sort(), ['draining', 'living', 'young'])
  })

  test('a node has another capacity', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.nodes.setCapacity('a', 75)
    assert.deepEqual(
      (await stage.nodes.beat('b')).nodes.map(({ capacity }) => capacity),
      [75, 100],
    )
  })
})
