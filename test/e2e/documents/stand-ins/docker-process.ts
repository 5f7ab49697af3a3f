// Stands in for docker compose: runs the service of deploy/compose.yml as a process, with the environment that compose would
// give the container. The volume is a folder of the machine. Knows only the commands of the documents.

import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

type Compose = { services: { causeway: { environment: Record<string, string> } } }

const { MACHINE: machine = '', PORT: port = '', REPOSITORY: repository = '' } = process.env
const pidFile = join(machine, 'service.pid')
const [, , group, action, ...rest] = process.argv
const command = `${group ?? ''} ${action ?? ''}`

if (command === 'compose up' && rest[0] === '-d') up()
else if (command === 'compose stop') process.exitCode = run(['stop-service'])
else if (command === 'compose cp') copyFileSync(join(machine, rest[0]?.split(':')[1] ?? ''), rest[1] ?? '')
else if (command === 'compose run' && rest[1] === 'causeway') {
  // The image begins every command with its entry point.
  process.exitCode = run(['node', 'bin/start.cjs', ...rest.slice(2)])
} else if (command === 'compose exec' && rest[0] === 'causeway') process.exitCode = run(rest.slice(1))
else throw new Error(`this stand-in does not know: docker ${process.argv.slice(2).join(' ')}`)

function up(): void {
  mkdirSync(join(machine, 'data'), { recursive: true })
  const log = openSync(join(machine, 'log'), 'a')
  const options = {
    cwd: repository,
    env: environment(),
    detached: true,
    stdio: ['ignore', log, log] as ['ignore', number, number],
  }
  const child = spawn('node', ['bin/start.cjs'], options)
  writeFileSync(pidFile, String(child.pid))
  child.unref()
}

function run([program = '', ...args]: readonly string[]): number {
  return spawnSync(program, args, { cwd: repository, env: environment(), stdio: 'inherit' }).status ?? 1
}

/** What .env and the compose file set. The network of the test is part of the machine. */
function environment(): NodeJS.ProcessEnv {
  const own = readSettings('.env')
  const { services } = parse(readFileSync('compose.yml', 'utf8')) as Compose
  const composed = Object.entries(services.causeway.environment).map(([name, value]) => [
    name,
    filled(value, own).replace('file:/data/', `file:${machine}/data/`),
  ])
  // A port of the machine leads to the port of the container.
  return { ...process.env, ...own, ...(Object.fromEntries(composed) as Record<string, string>), PORT: port }
}

function readSettings(file: string): Record<string, string> {
  if (!existsSync(file)) throw new Error(`there is no ${file} in ${process.cwd()}`)
  const lines = readFileSync(file, 'utf8').split('\n')
  const pairs = lines.filter((line) => line.includes('=')).map((line) => line.split(/=(.*)/s).slice(0, 2))
  return Object.fromEntries(pairs) as Record<string, string>
}

/** `${NAME:-standard}` and `${NAME:?why it is needed}`, as compose reads them. */
function filled(value: string, settings: Readonly<Record<string, string>>): string {
  return value.replace(/^\$\{(\w+):([-?])(.*)\}$/, (_whole, name: string, kind: string, text: string) => {
    const set = settings[name]
    if (!set && kind === '?') throw new Error(`required variable ${name} is missing: ${text}`)
    return set ?? text
  })
}
