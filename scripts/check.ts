// Runs all checks at once and prints what each has to say, in the order of the list; fails when one of them does.

import { spawn } from 'node:child_process'

const checks = ['types', 'lint', 'format', 'generated']

type Result = { name: string; code: number | null; output: string }

function run(name: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', `check:${name}`], { shell: process.platform === 'win32' })
    let output = ''
    const keep = (chunk: Buffer) => (output += chunk.toString())
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ name, code, output })
    })
  })
}

for (const { name, code, output } of await Promise.all(checks.map(run))) {
  process.stdout.write(output)
  if (code === 0) continue
  process.stdout.write(`npm run check:${name} failed\n`)
  process.exitCode = 1
}
