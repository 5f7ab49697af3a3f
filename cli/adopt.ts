// npm run adopt: takes over a helpdesk inbox that another bridge has filled. Says what it found before it changes anything.

import { otherBridges } from '../src/core/other-bridges/other-bridges.ts'
import { sleep, systemClock } from '../src/lib/clock.ts'
import { describeDone, describeFound, readAdopted, warnOfWriter } from './adopt-report.ts'
import type { Adopted } from './adopt-report.ts'
import { askPerson } from './ask-person.ts'
import { CliError, exitCodes } from './cli-error.ts'
import { runProgram } from './run-program.ts'
import { locateService, ServiceClient } from './service-client.ts'

const help = `Usage: npm run adopt -- --from ${otherBridges.join('|')} --instance <name> [--yes] [--url <address>]

Takes over the contacts, conversations and message ids that another bridge wrote into the Chatwoot inbox of the
instance. First it counts what it finds and asks. Nothing is sent to WhatsApp, and nothing is posted to Chatwoot.
Read docs/moving-in.md first.

  --from <bridge>    the bridge that has filled the inbox
  --instance <name>  the instance whose inbox it is
  --yes              do not ask
  --url <address>    where the service is; without it: PORT and HOST of the environment or of .env

The service does the work as a job. After Ctrl+C the job goes on: GET /api/jobs shows it.
Exit code: 0 everything is in order, 1 nothing was found or something was refused, 2 the service cannot be asked.
SERVICE_API_TOKEN comes from the environment or from .env.`

const timeoutMs = 30_000
const pollMs = 1000
/** How often a line tells how far the job is. */
const tellMs = 10_000

await runProgram({
  help,
  options: {
    from: { type: 'string' },
    instance: { type: 'string' },
    yes: { type: 'boolean' },
    url: { type: 'string' },
  },
  names: { least: 0, most: 0 },
  run: async ({ text, has }, stopped) => {
    const [from, instance] = [text('from'), text('instance')]
    if (from === undefined || !otherBridges.some((each) => each === from)) throw unknownBridge()
    if (instance === undefined) throw new CliError('Name the instance with --instance <name>.')
    const service = locateService(process.env, text('url'))
    await using client = new ServiceClient({ ...service, signal: stopped, timeoutMs })
    const run = (isDry: boolean) => runJob(client, { from, instance, isDry }, stopped)
    const found = await run(true)
    console.log(describeFound(from, found).join('\n'))
    if (found.adopted + found.unchanged === 0) throw nothingFound(from)
    if (found.adopted === 0) {
      console.log('✓ Everything is taken over.')
      return exitCodes.ok
    }
    const warning = warnOfWriter(from, found, Date.now())
    if (warning !== undefined) console.log(warning)
    if (!has('yes') && !(await isAgreed(stopped))) return exitCodes.wrong
    const done = await run(false)
    console.log(describeDone(done))
    return done.errors === 0 ? exitCodes.ok : exitCodes.wrong
  },
})

type Order = { from: string; instance: string; isDry: boolean }

async function runJob(client: ServiceClient, order: Order, stopped: AbortSignal): Promise<Adopted> {
  const { from, instance, isDry } = order
  const path = `/api/instances/${encodeURIComponent(instance)}/adopt`
  const { body } = await client.expect('POST', path, { from, dry_run: isDry })
  const id = String(body['job_id'])
  let toldAt = systemClock.monotonic()
  for (;;) {
    const { body: job } = await client.expect('GET', `/api/jobs/${encodeURIComponent(id)}`)
    if (job['status'] === 'completed') return readAdopted(job['result'])
    if (job['status'] === 'failed') throw new CliError(`The job failed: ${String(job['error'])}`)
    if (job['status'] === 'cancelled') throw new CliError(`The job ${id} was cancelled.`)
    if (systemClock.monotonic() - toldAt >= tellMs) {
      toldAt = systemClock.monotonic()
      console.log(progressOf(job['progress']))
    }
    await sleep(systemClock, pollMs, stopped)
    stopped.throwIfAborted()
  }
}

function progressOf(progress: unknown): string {
  const { done = 0, total = 0 } = (progress ?? {}) as { done?: number; total?: number }
  return total === 0 ? '… reading the conversations of the inbox' : `… ${done} of ${total} contacts`
}

async function isAgreed(stopped: AbortSignal): Promise<boolean> {
  const answer = await askPerson('Take this over? [y/N] ', stopped)
  if (answer === undefined) throw new CliError('There is no terminal to ask: repeat the command with --yes.')
  return /^y(es)?$/i.test(answer.trim())
}

function unknownBridge(): CliError {
  return new CliError(`Name the bridge that has filled the inbox: --from ${otherBridges.join(', --from ')}.`)
}

function nothingFound(from: string): CliError {
  return new CliError(`Nothing of ${from} was found in the inbox: is it the right instance, and the right bridge?`)
}
