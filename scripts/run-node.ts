// Runs node with these arguments and ends with its exit code.

import { spawn } from 'node:child_process'

export async function runNode(
  options: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = spawn(process.execPath, options, { stdio: 'inherit', env: { ...process.env, ...environment } })
  // A terminal sends Ctrl+C to both processes. This one waits until the other has cleaned up.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      resolve(code ?? 1)
    })
  })
}
