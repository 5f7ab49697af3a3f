import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventLoopShare } from './event-loop-share.ts'

/** Work of so many pieces that take 3 ms each, and a bystander who notes every turn of the loop. */
async function share(workers: number, pieces: number): Promise<string[]> {
  let now = 0
  const turns = new EventLoopShare(() => now)
  const log: string[] = []
  const work = async (worker: number) => {
    for (let piece = 0; piece < pieces; piece++) {
      await turns.next()
      now += 3
      log.push(`${worker}.${piece}`)
    }
  }
  let isOver = false
  const bystand = () => {
    log.push('turn')
    if (!isOver) setImmediate(bystand)
  }
  setImmediate(bystand)
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  isOver = true
  return log
}

test('a turn of the loop holds one slice of work after the first piece, for any number of workers', async () => {
  const log = await share(5, 4)
  assert.equal(log.shift(), '0.0')
  const perTurn = log
    .join(' ')
    .split('turn')
    .map((part) => part.trim().split(' ').filter(Boolean).length)
  assert.equal(Math.max(...perTurn), 3)
  assert.equal(log.filter((entry) => entry !== 'turn').length, 19)
})

test('the first caller of a turn need not wait when no other caller waits', async () => {
  const turns = new EventLoopShare(() => 0)
  let isNextTurn = false
  setImmediate(() => (isNextTurn = true))
  await turns.next()
  assert.equal(isNextTurn, false)
  await turns.next()
  assert.equal(isNextTurn, true)
})

test('all workers advance equally', async () => {
  const done = (await share(3, 3)).filter((entry) => entry !== 'turn')
  assert.deepEqual(done, ['0.0', '1.0', '2.0', '0.1', '1.1', '2.1', '0.2', '1.2', '2.2'])
})
