import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import { StartError } from '../../lib/start-error.ts'
import { readCell, readCellMessage } from './this-cell.ts'

/** A process that only hears and says. */
class Heard extends EventEmitter {
  readonly argv: string[]
  connected = true
  readonly sent: unknown[] = []
  ends = 0
  send: ((message: unknown) => boolean) | undefined = (message) => this.sent.push(message) > 0

  constructor(...args: string[]) {
    super()
    this.argv = ['node', 'main.ts', ...args]
    this.on('parentEnded', () => (this.ends += 1))
  }
}

const read = (process: Heard) => readCell(process as Parameters<typeof readCell>[0])

describe('a process that is a cell', () => {
  test('a process without the argument is no cell', () => {
    assert.equal(read(new Heard()), undefined)
  })

  test('it knows where other nodes reach it, and tells where it listens', () => {
    const process = new Heard('cell', 'http://a:1/cells/k')
    const cell = read(process)
    assert.equal(cell?.address, 'http://a:1/cells/k')
    cell.tellUrl('http://127.0.0.1:5')
    assert.deepEqual(process.sent.map(readCellMessage), ['http://127.0.0.1:5'])
  })

  test('it stops when its channel closes, or has closed before', () => {
    const process = new Heard('cell', 'http://a:1/cells/k')
    read(process)?.stopWithParent()
    assert.equal(process.ends, 0)
    process.emit('disconnect')
    assert.equal(process.ends, 1)
    const late = Object.assign(new Heard('cell', 'http://a:1/cells/k'), { connected: false })
    read(late)?.stopWithParent()
    assert.equal(late.ends, 1)
  })

  test('a person cannot start one', () => {
    const byHand = Object.assign(new Heard('cell', 'http://a:1/cells/k'), { send: undefined })
    assert.throws(() => read(byHand), StartError)
    assert.throws(() => read(new Heard('cell')), StartError)
  })

  test('other messages name no URL', () => {
    for (const message of [undefined, null, 'url', {}, { url: 5 }]) assert.equal(readCellMessage(message), undefined)
  })
})
