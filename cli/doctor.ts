// npm run doctor: asks the running service what is wrong with its set-up.

import { formatAll, formatFindings, readCheck } from './check-list.ts'
import type { CheckResult } from './check-list.ts'
import { exitCodes } from './cli-error.ts'
import { runProgram } from './run-program.ts'
import { locateService, ServiceClient } from './service-client.ts'

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
    const check = async (instance: string) => {
      const { body } = await client.expect(method, `/api/instances/${encodeURIComponent(instance)}/check`)
      return readCheck(body)
    }
    const names = name === undefined ? await listNames(client) : [name]
    const results = new Map<string, CheckResult>()
    for (const each of names) results.set(each, await check(each))
    const ok = [...results.values()].every((result) => result.ok)
    const only = name === undefined ? undefined : results.get(name)
    if (has('json')) {
      console.log(JSON.stringify(only ?? { ok, instances: Object.fromEntries(results) }, null, 2))
    } else {
      console.log((only ? formatFindings(only.checks) : linesOf(results)).join('\n'))
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
