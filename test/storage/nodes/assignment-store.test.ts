import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { placing } from '../../../src/storage/stores/nodes/assignment-sql.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const at = joinedAt + 60_000
const move = (instance: string, from: string, to: string, askedAt = at) => ({ instance, from, to, askedAt })

describe('assignment store', { skip: withoutPostgres }, () => {
  test('free instances are placed under new epochs, and the takers are told', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    for (const name of ['x', 'y', 'z']) await stage.createFree(name)
    const before = await stage.nextEpoch()
    const placed = await stage.assignments.place(
      [
        { instance: 'x', node: 'a' },
        { instance: 'y', node: 'b' },
      ],
      at,
    )
    assert.deepEqual(placed.map(({ instance, node, since }) => [instance, node, since]).sort(), [
      ['x', 'a', at],
      ['y', 'b', at],
    ])
    const epochs = placed.map(({ epoch }) => epoch)
    assert.ok(epochs.every((epoch) => epoch > before) && new Set(epochs).size === 2, `epochs ${epochs.join()}`)
    assert.deepEqual(await stage.versions(), { a: 1, b: 1, c: 0 })
    assert.deepEqual(await stage.assignments.heldBy('a'), [placed.find(({ instance }) => instance === 'x')])
    assert.deepEqual(
      (await stage.assignments.free()).map(({ instance }) => instance),
      ['z'],
    )
  })

  test('only what is free and known is placed, and only at active nodes', async () => {
    await using stage = await NodeStage.open('a', 'b', 'draining', 'dead')
    await stage.nodes.drain('draining')
    await stage.nodes.end('dead', at)
    const hold = await stage.create('held', 'b')
    await stage.assignments.quarantine(await stage.create('bad', 'b'), at)
    for (const name of ['x', 'y', 'z']) await stage.createFree(name)
    const placements = ['held', 'bad', 'unknown'].map((instance) => ({ instance, node: 'a' }))
    const targets = ['draining', 'dead', 'stranger'].map((node, i) => ({ instance: ['x', 'y', 'z'][i] ?? '', node }))
    assert.deepEqual(await stage.assignments.place([...placements, ...targets], at), [])
    assert.equal(await stage.mayWrite(hold), true)
    assert.deepEqual(await stage.owners(), { bad: null, held: 'b', x: null, y: null, z: null })
    assert.equal((await stage.versions())['a'], 0)
  })

  test('a locked row and a row that was placed meanwhile are left out, and the others are placed', async () => {
    await using stage = await NodeStage.open('a', 'b')
    for (const name of ['x', 'y', 'z']) await stage.createFree(name)
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'x' FOR SHARE`)
    await stage.assignments.place([{ instance: 'y', node: 'b' }], at)
    const placed = await stage.assignments.place(
      ['x', 'y', 'z'].map((instance) => ({ instance, node: 'a' })),
      at,
    )
    await stage.locker.release()
    assert.deepEqual(
      placed.map(({ instance }) => instance),
      ['z'],
    )
    assert.deepEqual(await stage.owners(), { x: null, y: 'b', z: 'a' })
  })

  test('a taker that is being buried is left out, and the placement at the others does not wait', async () => {
    await using stage = await NodeStage.open('a', 'b')
    for (const name of ['x', 'y']) await stage.createFree(name)
    await stage.locker.hold(`SELECT 1 FROM nodes WHERE id = 'b' FOR UPDATE`)
    const placements = [
      { instance: 'x', node: 'a' },
      { instance: 'y', node: 'b' },
    ]
    assert.equal((await stage.assignments.place(placements, at)).length, 1)
    await stage.locker.release()
    assert.deepEqual(await stage.owners(), { x: 'a', y: null })
  })

  test('of many placements at once each instance has one owner, and each taker is told', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const names = Array.from({ length: 30 }, (_, i) => `i${i}`)
    for (const name of names) await stage.createFree(name)
    const nodes = ['a', 'b', 'c']
    const placed = await Promise.all(
      Array.from({ length: 9 }, (_, round) =>
        stage.assignments.place(
          names.map((instance, i) => ({ instance, node: nodes[(round + i) % 3] ?? '' })),
          at,
        ),
      ),
    )
    assert.deepEqual(
      placed
        .flat()
        .map(({ instance }) => instance)
        .sort(),
      [...names].sort(),
    )
    for (const assignment of placed.flat()) {
      assert.deepEqual(await stage.assignments.find(assignment.instance), assignment)
    }
    const told = nodes.map((node) => placed.filter((round) => round.some((each) => each.node === node)).length)
    const versions = await stage.versions()
    assert.deepEqual(
      nodes.map((node) => versions[node]),
      told,
    )
  })

  test('a placement compares no two instances with each other', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const names = Array.from({ length: 1000 }, (_, i) => `i${i}`)
    await stage.bystander.query(
      `INSERT INTO assignments (instance, epoch, since) SELECT 'i' || n, n, 1 FROM generate_series(0, 999) n`,
    )
    const placements = names.map((instance, i) => ({ instance, node: i % 2 === 0 ? 'a' : 'b' }))
    const { sql, parameters } = placing(placements, at).compile(stage.database.query)
    const [found] = await stage.bystander.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...parameters])
    const counts = JSON.stringify(found?.['QUERY PLAN']).matchAll(/"(?:Actual Rows|Rows Removed by [\w ]+)":([\d.]+)/g)
    const most = Math.max(...[...counts].map(([, count]) => Number(count)))
    assert.ok(most < 5 * names.length, `a step of the plan looks at ${most} rows`)
    assert.equal((await stage.assignments.heldBy('a')).length, 500)
  })

  test('two changes tell the same nodes in the same order, so that they do not wait for each other', async () => {
    await using stage = await NodeStage.open('b', 'a')
    for (const name of ['w', 'x', 'y', 'z']) await stage.createFree(name)
    await stage.locker.hold(`SELECT 1 FROM node_versions WHERE node = 'a' FOR UPDATE`)
    const placed = [
      ['w', 'x'],
      ['y', 'z'],
    ].map(([first = '', second = '']) =>
      stage.assignments.place(
        [
          { instance: first, node: 'b' },
          { instance: second, node: 'a' },
        ],
        at,
      ),
    )
    await stage.bystander.blocked(2)
    const unlocked = await stage.bystander.query(`SELECT node FROM node_versions FOR UPDATE SKIP LOCKED`)
    assert.deepEqual(unlocked, [{ node: 'b' }])
    await stage.locker.release()
    assert.equal((await Promise.all(placed)).flat().length, 4)
  })

  test('a wish is for an instance that the giver holds and for an active taker; the giver is told', async () => {
    await using stage = await NodeStage.open('a', 'b', 'draining')
    await stage.nodes.drain('draining')
    for (const name of ['x', 'y', 'z']) await stage.create(name, 'a')
    await stage.createFree('free')
    await stage.assignments.wish([move('x', 'a', 'b'), move('y', 'b', 'a'), move('z', 'a', 'draining')])
    await stage.assignments.wish([move('y', 'a', 'stranger'), move('free', 'a', 'b'), move('unknown', 'a', 'b')])
    await stage.assignments.wish([move('z', 'a', 'a')])
    assert.deepEqual(await stage.assignments.moves(), [move('x', 'a', 'b')])
    assert.deepEqual(await stage.versions(), { a: 1, b: 0, draining: 0 })
  })

  test('an instance keeps its wish until it is dropped', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    await stage.create('x', 'a')
    await stage.assignments.wish([move('x', 'a', 'b')])
    await stage.assignments.wish([move('x', 'a', 'c', at + 1)])
    assert.deepEqual([await stage.assignments.moves(), (await stage.versions())['a']], [[move('x', 'a', 'b')], 1])
    await stage.assignments.dropWish('x')
    await stage.assignments.wish([move('x', 'a', 'c', at + 1)])
    assert.deepEqual(await stage.assignments.moves(), [move('x', 'a', 'c', at + 1)])
  })

  test('a stale wish is not seen, and the next wish takes its place', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c', 'd')
    await stage.create('x', 'a')
    await stage.create('y', 'a')
    await stage.create('z', 'd')
    // These were written while the instance moved, while the taker was buried, and while the giver was buried.
    await stage.bystander.query(`INSERT INTO moves VALUES ('x', 'b', 'c', 1), ('y', 'a', 'd', 1), ('z', 'd', 'a', 1)`)
    await stage.locker.hold('SELECT 1 FROM moves, assignments FOR UPDATE')
    await stage.nodes.bury(await stage.seen('d'), [], at)
    await stage.locker.release()
    assert.equal((await stage.bystander.query('SELECT 1 FROM moves')).length, 3)
    assert.deepEqual(await stage.assignments.moves(), [])
    await stage.assignments.wish([move('x', 'a', 'c'), move('y', 'a', 'b')])
    assert.deepEqual(await stage.assignments.moves(), [move('x', 'a', 'c'), move('y', 'a', 'b')])
  })

  test('a hand-over names the new owner under a new epoch, ends the wish and tells the new owner', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.assignments.wish([move('x', 'a', 'b')])
    const given = (await stage.assignments.handOver(hold, 'b', at)) ?? assert.fail('it was given')
    assert.deepEqual([given.node, given.since, given.crashes], ['b', at, 0])
    assert.ok(given.epoch > hold.epoch)
    assert.deepEqual(await stage.assignments.find('x'), given)
    assert.deepEqual(await stage.bystander.query('SELECT 1 FROM moves'), [])
    assert.deepEqual(await stage.versions(), { a: 1, b: 1 })
    assert.deepEqual([await stage.mayWrite(hold), await stage.mayWrite(await stage.holdOf('x'))], [false, true])
  })

  test('a hand-over with a stale hold changes nothing', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const hold = await stage.create('x', 'a')
    await stage.assignments.handOver(hold, 'b', at)
    await stage.assignments.wish([move('x', 'b', 'c')])
    const before = await stage.assignments.all()
    assert.equal(await stage.assignments.handOver(hold, 'c', at), undefined)
    assert.equal(await stage.assignments.handOver({ ...(await stage.holdOf('x')), node: 'a' }, 'c', at), undefined)
    assert.equal(await stage.assignments.handOver({ ...hold, node: 'b' }, 'c', at), undefined)
    assert.deepEqual(await stage.assignments.all(), before)
    assert.deepEqual((await stage.assignments.moves()).length, 1)
    assert.equal((await stage.versions())['c'], 0)
  })

  test('a hand-over to a node that is not active leaves the instance without an owner', async () => {
    await using stage = await NodeStage.open('a', 'draining', 'dead')
    await stage.nodes.drain('draining')
    await stage.nodes.end('dead', at)
    for (const to of ['draining', 'dead', 'stranger']) {
      const hold = await stage.create(to, 'a')
      assert.equal((await stage.assignments.handOver(hold, to, at))?.node, null)
      assert.equal(await stage.mayWrite(hold), false)
    }
    assert.equal((await stage.assignments.free()).length, 3)
  })

  test('a hand-over waits for a write of the owner that is under way', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'x' FOR SHARE`)
    const given = stage.assignments.handOver(hold, 'b', at)
    await stage.bystander.blocked(1)
    assert.deepEqual(await stage.owners(), { x: 'a' })
    await stage.locker.release()
    assert.equal((await given)?.node, 'b')
  })

  test('a hand-over that waits for its wish does not lock what the new owner is told by', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.assignments.wish([move('x', 'a', 'b')])
    await stage.locker.hold(`SELECT 1 FROM moves WHERE instance = 'x' FOR UPDATE`)
    const given = stage.assignments.handOver(hold, 'b', at)
    await stage.bystander.blocked(1)
    const unlocked = await stage.bystander.query(`SELECT node FROM node_versions ORDER BY node FOR UPDATE SKIP LOCKED`)
    await stage.locker.release()
    assert.deepEqual(unlocked, [{ node: 'a' }, { node: 'b' }])
    assert.equal((await given)?.node, 'b')
    assert.deepEqual([await stage.versions(), await stage.assignments.moves()], [{ a: 1, b: 1 }, []])
  })

  test('a wish does not wait for the writes of a busy instance', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.create('x', 'a')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'x' FOR UPDATE`)
    await stage.assignments.wish([move('x', 'a', 'b')])
    assert.equal((await stage.assignments.moves()).length, 1)
    await stage.locker.release()
  })

  test('a quarantined instance belongs to no node and is not placed until it is released', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const hold = await stage.create('x', 'a')
    await stage.assignments.wish([move('x', 'a', 'b')])
    assert.equal(await stage.assignments.quarantine({ ...hold, node: 'b' }, at), false)
    assert.equal((await stage.versions())['a'], 1)
    assert.equal(await stage.assignments.quarantine(hold, at), true)
    assert.equal((await stage.versions())['a'], 2, 'the node that held it is told')
    assert.equal(await stage.assignments.quarantine(hold, at + 1), false)
    const { node, quarantinedAt } = (await stage.assignments.find('x')) ?? {}
    assert.deepEqual([node, quarantinedAt, await stage.assignments.free()], [null, at, []])
    assert.deepEqual(await stage.bystander.query('SELECT 1 FROM moves'), [])
    assert.equal(await stage.mayWrite(hold), false)
    assert.deepEqual(await stage.assignments.place([{ instance: 'x', node: 'b' }], at), [])
  })

  test('an instance that no living node holds is put in quarantine, unless it was placed meanwhile', async () => {
    await using stage = await NodeStage.open('a', 'b')
    for (const name of ['x', 'y']) await stage.create(name, 'a')
    await stage.createFree('z')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'x' FOR SHARE`)
    await stage.nodes.bury(await stage.seen('a'), [], at)
    await stage.locker.release()
    const free = await stage.assignments.free()
    await stage.assignments.place([{ instance: 'z', node: 'b' }], at)
    const answers: unknown[] = []
    for (const each of free) answers.push([each.instance, await stage.assignments.quarantine(each, at)])
    assert.deepEqual(answers, [
      ['x', true],
      ['y', true],
      ['z', false],
    ])
    assert.deepEqual(await stage.owners(), { x: null, y: null, z: 'b' })
    assert.deepEqual(await stage.assignments.free(), [])
  })

  test('a released instance belongs to the node that released it, and its crashes are forgotten', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    await stage.create('x', 'a')
    await stage.nodes.bury(await stage.seen('a'), [{ instance: 'x', node: 'b' }], at)
    assert.equal(await stage.assignments.release('x', 'c', at), undefined, 'it is not in quarantine')
    await stage.assignments.quarantine(await stage.holdOf('x'), at)
    assert.equal(await stage.assignments.release('x', 'a', at), undefined, 'the node is dead')
    const released = (await stage.assignments.release('x', 'c', at + 1)) ?? assert.fail('it was released')
    const { node, since, crashes, crashedAt, quarantinedAt } = released
    assert.deepEqual([node, since, crashes, crashedAt, quarantinedAt], ['c', at + 1, 0, null, null])
    assert.equal((await stage.versions())['c'], 1)
    assert.equal(await stage.mayWrite(await stage.holdOf('x')), true)
  })
})
