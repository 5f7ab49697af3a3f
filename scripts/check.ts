// Runs all checks of the code, two at a time, and prints what each of them finds: `npm run check`.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { isListOnly } from './node-tests.ts'

// The longest comes first, so that the others run beside it.
const waiting = ['check:lint', 'check:types', 'check:format', 'check:unused', 'check:generated']
const failed: string[] = []

/** What the check printed, once it has ended, and whether it found nothing. */
async function run(check: string): Promise<{ printed: string; passed: boolean }> {
  // On Windows npm is a batch file, which only a shell starts.
  const child = spawn('npm', ['run', '--silent', check], { shell: process.platform === 'win32' })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { printed: output + errors, passed: code === 0 }
}

async function runWaiting(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const { printed, passed } = await run(check)
    process.stdout.write(printed)
    if (!passed) failed.push(check)
  }
}

if (isListOnly) console.log(waiting.join('\n'))
else await Promise.all([runWaiting(), runWaiting()])
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}. npm run <name> runs one of them again.`)
  process.exitCode = 1
}
