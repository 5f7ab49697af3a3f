// The processes that a node starts as cells. They are real; what they do is scripted in idle-cell-process.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SeenNode } from '../../src/core/nodes/node.ts'
import { CellProcesses } from '../../src/nodes/cells/cell-processes.ts'
import { cellPath } from '../../src/nodes/peer-routes.ts'
import { RecordedLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { seenNode } from '../harness/nodes/placement-views.ts'
import { waitUntil } from '../harness/wait-until.ts'

const program = fileURLToPath(new URL('harness/idle-cell-process.ts', import.meta.url))

class CellBed {
  readonly clock = new ManualClock()
  readonly logs = new RecordedLog()
  readonly nodes: SeenNode[] = []
  held = 1
  starts = 0
  readonly cells: CellProcesses

  readonly #host: string

  constructor(host = 'plain') {
    this.#host = host
    this.cells = new CellProcesses({
      ...{ program, address: `http://${host}:8091`, clock: this.clock, log: this.logs.log },
      nodes: () => this.nodes,
      onStart: () => (this.starts += 1),
      heldBy: () => Promise.resolve(Array.from({ length: this.held })),
    })
  }

  /** A cell that has joined. Returns the line that it has logged first. */
  async start(): Promise<{ address: string; cell: number }> {
    const starting = this.cells.start()
    await waitUntil('the cell runs', () => this.logged('a cell runs').length > 0)
    const [line] = this.logged('a cell runs') as [{ address: string; cell: number }]
    this.nodes.push(seenNode('c', { capacity: 0, address: line.address }))
    await this.clock.advance(100)
    await starting
    return line
  }

  logged(message: string) {
    return this.logs.withMessage(message)
  }

  /** So many looks, one every five seconds. */
  async look(count: number): Promise<void> {
    for (let each = 0; each < count; each++) {
      await this.clock.advance(5000)
      await this.cells.look()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.cells[Symbol.asyncDispose]()
    if (this.#host === 'stubborn') await this.clock.advance(30_000)
    await ended
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the processes of cells', () => {
  test('the start resolves when the node has seen the cell, whose lines are in the log of the node', async () => {
    await using bed = new CellBed()
    const { address, cell } = await bed.start()
    assert.match(address, /^http:\/\/plain:8091\/cells\/[0-9a-f]{16}$/)
    assert.ok(isRunning(cell))
    assert.equal(bed.starts, 1)
    const key = address.split(cellPath)[1] ?? ''
    assert.deepEqual([bed.cells.urlOf(key), bed.cells.urlOf('other')], ['http://127.0.0.1:5', undefined])
  })

  test('a cell that ends before it has joined is a failed start, and what it wrote is in the log', async () => {
    await using bed = new CellBed('broken')
    const failed = assert.rejects(bed.cells.start(), /ended before it was a node/)
    await waitUntil('the cell is dead', () => bed.logged('a cell is dead').length > 0)
    await bed.clock.advance(100)
    await failed
    const [{ code, errors } = {}] = bed.logged('a cell is dead')
    assert.deepEqual([code, errors], [7, 'it is broken\n'])
  })

  test('a line with separators is one line, and a line that was cut off does no harm', async () => {
    await using bed = new CellBed('torn')
    const failed = assert.rejects(bed.cells.start(), /ended before it was a node/)
    await waitUntil('the cell is dead', () => bed.logged('a cell is dead').length > 0)
    await bed.clock.advance(100)
    await failed
    assert.equal(bed.logged('two\u2028lines').length, 1)
    const [{ errors } = {}] = bed.logged('a cell is dead')
    assert.equal(errors, '{"level":40,"msg":"cut o')
  })

  test('a cell that does not join within a minute is killed', async () => {
    await using bed = new CellBed('stubborn')
    const failed = assert.rejects(bed.cells.start(), /no node after a minute/)
    await waitUntil('the cell runs', () => bed.logged('a cell runs').length > 0)
    await bed.clock.advance(60_100)
    await failed
    await waitUntil('the cell is dead', () => bed.logged('a cell is dead').length > 0)
  })

  test('a cell that holds nothing for a minute ends in order', async () => {
    await using bed = new CellBed()
    const { cell } = await bed.start()
    await bed.look(20)
    bed.held = 0
    await bed.look(12)
    assert.ok(isRunning(cell))
    await bed.look(1)
    await waitUntil('the cell has ended', () => bed.logged('a cell has ended').length > 0)
    assert.equal(bed.logged('the channel is closed').length, 1)
  })

  test('a cell that other nodes have given up and that still runs is killed', async () => {
    await using bed = new CellBed('stubborn')
    const { cell } = await bed.start()
    bed.nodes.pop()
    await bed.look(1)
    assert.ok(isRunning(cell))
    await bed.look(1)
    await waitUntil('the cell is dead', () => bed.logged('a cell is dead').length > 0)
  })

  test('cells end with their node; one that does not is killed', async () => {
    for (const [host, message] of [
      ['plain', 'a cell has ended'],
      ['stubborn', 'a cell is dead'],
    ] as const) {
      const bed = new CellBed(host)
      const { cell } = await bed.start()
      await bed[Symbol.asyncDispose]()
      assert.equal(isRunning(cell), false)
      assert.equal(bed.logged(message).length, 1)
      await bed.cells.start()
      assert.equal(bed.logged('a cell runs').length, 1, 'a node that stops starts none')
    }
  })
})
