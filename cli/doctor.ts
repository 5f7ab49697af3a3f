// npm run doctor: asks the running service what is wrong with its set-up.

import { formatAll, formatFindings, readCheck } from './check-list.ts'
import type { CheckResult } from './check-list.ts'
import { exitCodes } from './cli-error.ts'
import { runProgram } from './run-program.ts'
import { locateService, ServiceClient } from './service-client.ts'
import type { Answer } from './service-client.ts'

const help = `Usage: npm run doctor -- [name] [--read-only] [--json] [--url <address>]

Checks the set-up of one instance, or of all instances, and says what to do.

  --read-only      write nothing at Chatwoot: no test signal goes to Chatwoot and back
  --json           print JSON
  --url <address>  where the service is; without it: PORT and HOST of the environment or of .env

Exit code: 0 everything is in order, 1 something is wrong, 2 the service cannot be asked.
SERVICE_API_TOKEN comes from the environment or from .env.`

/** Longer than the round trip of a check. */
const checkTimeoutMs = 60_000

await runProgram({
  help,
  options: { 'read-only': { type: 'boolean' }, json: { type: 'boolean' }, url: { type: 'string' } },
  names: { least: 0, most: 1 },
  run: async ({ names: [name], text, has }, stopped) => {
    const service = locateService(process.env, text('url'))
    await using client = new ServiceClient({ ...service, signal: stopped, timeoutMs: checkTimeoutMs })
    const method = has('read-only') ? 'GET' : 'POST'
    const answers = new Map<string, Answer['body']>()
    for (const each of name === undefined ? await listNames(client) : [name]) {
      const { body } = await client.expect(method, `/api/instances/${encodeURIComponent(each)}/check`)
      answers.set(each, body)
    }
    const results = new Map(Array.from(answers, ([each, body]) => [each, readCheck(body)]))
    const ok = [...results.values()].every((result) => result.ok)
    if (has('json')) {
      const whole = name === undefined ? { ok, instances: Object.fromEntries(answers) } : answers.get(name)
      console.log(JSON.stringify(whole, null, 2))
    } else {
      console.log((name === undefined ? linesOf(results) : formatFindings(results.get(name)?.checks ?? [])).join('\n'))
    }
    return ok ? exitCodes.ok : exitCodes.wrong
  },
})

async function listNames(client: ServiceClient): Promise<string[]> {
  const { text } = await client.expect('GET', '/api/instances')
  return (JSON.parse(text) as { name: string }[]).map(({ name }) => name)
}

function linesOf(results: ReadonlyMap<string, CheckResult>): string[] {
  if (results.size > 0) return formatAll(results)
  return ['✓ The service runs. It has no instance yet: npm run link -- <name> links the first account.']
}
