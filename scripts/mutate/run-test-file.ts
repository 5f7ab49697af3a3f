// Runs one test file in a copy of the tree, until its first failure or a time limit.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

export type TestResult = { result: 'passed' | 'failed' | 'timeout'; ms: number }

type Run = {
  directory: string
  limitMs: number
  environment: Readonly<Record<string, string>>
  /** Ends the test at once; the result is then `failed`. */
  stopping: AbortSignal
}

export function runTestFile(test: string, run: Run): Promise<TestResult> {
  const { directory, limitMs, environment, stopping } = run
  if (stopping.aborted) return Promise.resolve({ result: 'failed', ms: 0 })
  const startedAt = performance.now()
  const { promise, resolve } = Promise.withResolvers<TestResult>()
  // A group of its own: the test may start processes, and they end with it.
  const child = spawn(process.execPath, ['--test-reporter=tap', test], {
    cwd: directory,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...environment },
  })
  const end = (result: TestResult['result']) => {
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
    resolve({ result, ms: Math.round(performance.now() - startedAt) })
    kill(child)
  }
  const stop = () => {
    end('failed')
  }
  stopping.addEventListener('abort', stop)
  const timer = setTimeout(() => {
    end('timeout')
  }, limitMs)
  let unread = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unread + text).split('\n')
    unread = lines.pop() ?? ''
    if (lines.some((line) => /^\s*not ok /.test(line))) end('failed')
  })
  child.once('exit', (code) => {
    end(code === 0 ? 'passed' : 'failed')
  })
  return promise
}

function kill(child: ChildProcess): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The processes have ended already.
  }
}
