import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { identifyProcess, isCertainlyDead } from './process-identity.ts'

const skip = process.platform === 'linux' ? false : 'needs /proc'

test('a living process is not dead, and a killed one is', { skip }, async () => {
  const child = spawn('sleep', ['60'])
  const identity = identifyProcess(child.pid) ?? ''
  assert.equal(isCertainlyDead(identity), false)
  child.kill('SIGSTOP')
  assert.equal(isCertainlyDead(identity), false, 'a stopped process may go on')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(isCertainlyDead(identity), true)
})

test('an ended process that its parent has not collected is dead', { skip }, async () => {
  // The shell becomes a program that never collects the child of the shell.
  const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'])
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const identity = identifyProcess(Number(line.toString())) ?? ''
  assert.notEqual(identity, '')
  await waitUntil('the child is dead', () => isCertainlyDead(identity))
  parent.kill('SIGKILL')
  await once(parent, 'exit')
})

test('a later process with the same number does not keep the earlier one alive', { skip }, () => {
  const identity = identifyProcess() ?? ''
  assert.equal(isCertainlyDead(identity), false)
  assert.equal(isCertainlyDead(identity.replace(/\d+$/, '1')), true)
})

test('a process of another machine, boot, container or build is never called dead', { skip }, () => {
  const identity = identifyProcess() ?? ''
  const [host = '', boot = '', pidSpace = '', timeSpace = '', pid = ''] = identity.split('/')
  const unused = [host, boot, pidSpace, timeSpace, String(2 ** 22 + 1), '1']
  assert.equal(isCertainlyDead(unused.join('/')), true, 'no process has such a high number')
  for (const index of [0, 1, 2, 3]) assert.equal(isCertainlyDead(unused.with(index, 'other').join('/')), false)
  for (const odd of [
    '',
    'host pid 7',
    '/',
    `${pid}/1`,
    unused.with(4, '0').join('/'),
    unused.with(4, '-1').join('/'),
  ]) {
    assert.equal(isCertainlyDead(odd), false, odd)
  }
})

test('a process that is gone has no identity', { skip }, () => {
  assert.equal(identifyProcess(2 ** 22 + 1), undefined)
})
