// npm run demo: WhatsApp, the service and Chatwoot on one page, without a phone and without the internet.

import { CliError, exitCodes } from '../cli/cli-error.ts'
import { runProgram } from '../cli/run-program.ts'

const help = `Usage: npm run demo -- [--check] [--nodes <number>] [--port <number>]

Starts a simulated WhatsApp, a simulated Chatwoot and the service between them, and prints the address of a page that
shows all three. Everything stays on this machine, in a temporary folder that Ctrl+C removes.

  --check          play the whole demo without a browser, and end with 0 if nothing was lost or doubled
  --nodes <number> so many processes of the service on one PostgreSQL, which share several accounts; without it: one process
  --port <number>  the port of the page; without it: a free one`

/** People who take as long as real ones make the ticks visible. */
const visiblePauses = { readMs: 1500, lookMs: 900 }
/** Each is a process of its own on this machine. */
const mostNodes = 5
const noPauses = { readMs: 0, lookMs: 0 }

// While this loads, a signal ends the process at once: there is nothing to remove yet.
const loading = load()
await Promise.allSettled([loading])

// Ctrl+C comes from the terminal, and once more from npm. Only the first signal counts, so that all files are removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
// The terminal was closed.
process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'))

await runProgram({
  help,
  options: { check: { type: 'boolean' }, nodes: { type: 'string' }, port: { type: 'string' } },
  names: { least: 0, most: 0 },
  run: async ({ text, has }, stopped) => {
    const port = readPort(text('port'))
    const nodes = readNodes(text('nodes'))
    await using end = new AsyncDisposableStack()
    const story = has('check') ? check(nodes, end) : page({ port, nodes }, end).then(() => ended(stopped))
    // A stop ends the story in the middle, also during its start. What it still waits for does not matter any more.
    story.catch(() => undefined)
    return await Promise.race([story, ended(stopped)])
  },
})
// The simulators keep connections and timers that no longer matter.
process.exit()

async function check(nodes: number, end: AsyncDisposableStack): Promise<number> {
  const { Stage, Show, runCheck } = await loading
  const stage = await Stage.open(end, nodes)
  const show = new Show(stage, noPauses)
  await stage.begin()
  await runCheck(show, (line) => {
    console.log(line)
  })
  stage.assertUnderstood()
  return exitCodes.ok
}

async function page({ port, nodes }: { port: number; nodes: number }, end: AsyncDisposableStack): Promise<void> {
  const { Stage, Show, PageServer } = await loading
  const stage = await Stage.open(end, nodes)
  const show = new Show(stage, visiblePauses)
  const address = await new PageServer(show).open(port).catch((cause: unknown) => {
    throw new CliError(`The page cannot use port ${port}: leave --port out, or name another one.`, undefined, { cause })
  })
  console.log(`The demo is at ${address} (Ctrl+C ends it)`)
  show.watch.begin()
  await stage.begin()
}

function ended(stopped: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const end = () => {
      resolve(exitCodes.stopped)
    }
    if (stopped.aborted) end()
    else stopped.addEventListener('abort', end)
  })
}

function readPort(text: string | undefined): number {
  const port = Number(text ?? '0')
  if (Number.isSafeInteger(port) && port >= 0 && port <= 65_535) return port
  throw new CliError('--port takes a whole number from 0 to 65535.')
}

function readNodes(text: string | undefined): number {
  const nodes = Number(text ?? '1')
  if (Number.isSafeInteger(nodes) && nodes >= 1 && nodes <= mostNodes) return nodes
  throw new CliError(`--nodes takes a whole number from 1 to ${mostNodes}.`)
}

/** The simulators need packages that `npm ci --omit=dev` leaves out. */
async function load() {
  try {
    const [{ Stage }, { Show }, { PageServer }, { runCheck }] = await Promise.all([
      import('./stage.ts'),
      import('./show.ts'),
      import('./page-server.ts'),
      import('./check.ts'),
    ])
    return { Stage, Show, PageServer, runCheck }
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new CliError('The demo needs the packages for development: run npm ci without --omit=dev.', undefined, {
      cause,
    })
  }
}
