// A process that looks like a cell to the node that started it, and does nothing. The host of its address says how it behaves.

import { readCell } from '../../../src/nodes/cells/this-cell.ts'

const cell = readCell(process)
if (!cell) throw new Error('this is started as a cell only')
const say = (msg: string) => process.stdout.write(`${JSON.stringify({ level: 30, msg, address: cell.address })}\n`)
const { hostname } = new URL(cell.address)
if (hostname === 'broken') {
  process.stderr.write('it is broken\n')
  process.exit(7)
}
if (hostname === 'torn') {
  process.stdout.write(`${JSON.stringify({ level: 40, msg: 'two\u2028lines' })}\n{"level":40,"msg":"cut o`)
  process.exit(7)
}
process.on('parentEnded', () => {
  say('the channel is closed')
  if (hostname !== 'stubborn') process.exit(0)
})
cell.stopWithParent()
cell.tellUrl('http://127.0.0.1:5')
say('a cell runs')
// It goes on until it is told to end.
setInterval(() => undefined, 1000)
