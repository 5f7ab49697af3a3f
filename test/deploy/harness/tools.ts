// The real tools that check a file, where this machine has them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'

const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const path = [process.env['PATH'] ?? '', ...folders].join(':')

/** The `skip` option of a test that needs these tools. */
export function without(...tools: readonly string[]): string | false {
  const missing = tools.filter((tool) => spawnSync('which', [tool], { env: { PATH: path } }).status !== 0)
  return missing.length > 0 && `${missing.join(', ')}: not installed here`
}

type Output = { stdout: string; stderr: string }

/** Runs a tool that must succeed. */
export function runTool(tool: string, args: readonly string[], options: { cwd?: string; input?: string } = {}): Output {
  const env = { ...process.env, PATH: path }
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8', env, ...options })
  assert.equal(status, 0, `${tool} ${args.join(' ')}: ${stderr}`)
  return { stdout, stderr }
}

/** Where a tool is found that is not in the PATH of every user. */
export const toolPath = path
