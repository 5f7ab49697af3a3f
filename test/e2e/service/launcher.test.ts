// The launcher on machines that cannot run the service or a program of the terminal as they are: another Node, missing
// packages, an .env file.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import manifest from '../../../package.json' with { type: 'json' }
import { waitUntil } from '../../harness/wait-until.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
// Stands in for the service: says what it was started with.
const main = `console.log(JSON.stringify({
  version: process.version, title: process.title, pid: process.pid, args: process.argv.slice(2),
  HOST: process.env.HOST, PORT: process.env.PORT, LOG_LEVEL: process.env.LOG_LEVEL,
}))`

const programs = ['link', 'doctor', 'adopt', 'backup', 'restore'] as const

type Pretended = { version?: string; platform?: string; execve?: '' }
type Outcome = { code: number | null; output: string; errors: string; pid: number | undefined }

// Before the launcher: says which signals come, and which ones the launcher passes on.
const sayWhatHappens = `
process.on('SIGINT', () => console.log('interrupted'))
const { ChildProcess } = require('node:child_process')
const { kill } = ChildProcess.prototype
ChildProcess.prototype.kill = function (signal) {
  console.log('passed on ' + signal)
  return kill.call(this, signal)
}`

/** The launcher and the processes that it has started. */
class Launched {
  readonly ended: Promise<number | null>
  output = ''
  errors = ''
  readonly #child: ChildProcessWithoutNullStreams
  #isEnded = false

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()))
    // Known when the last process with these streams has ended.
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        this.#isEnded = true
        resolve(code)
      })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async says(text: string): Promise<void> {
    const instead = () => [this.output, this.errors]
    await waitUntil(`the output has "${text}"`, () => this.output.includes(text), { instead })
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  endInput(): void {
    this.#child.stdin.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEnded && this.pid !== undefined) process.kill(-this.pid, 'SIGKILL')
    await this.ended
  }
}

/** A copy of the project with the launcher and a stand-in for the service. */
class Project {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async create({ withPackages = true, withNode = false } = {}): Promise<Project> {
    const project = new Project(await realpath(await mkdtemp(join(tmpdir(), 'causeway-project-'))))
    await cp(join(root, 'bin'), join(project.path, 'bin'), { recursive: true })
    await cp(join(root, 'package.json'), join(project.path, 'package.json'))
    for (const file of ['src/main.ts', ...programs.map((name) => `cli/${name}.ts`)]) await project.write(file, main)
    const packages = withPackages ? Object.keys(manifest.dependencies) : []
    for (const name of packages) await project.write(`node_modules/${name}/package.json`, '{}')
    if (withNode) {
      const binary = join(project.path, 'node_modules', nodePackage, 'bin', 'node')
      await mkdir(dirname(binary), { recursive: true })
      await symlink(process.execPath, binary)
    }
    return project
  }

  async write(file: string, text: string): Promise<void> {
    const path = join(this.path, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }

  /** Runs the launcher to its end, on a Node that pretends to be another one. */
  async run(
    pretended: Pretended = {},
    environment: Record<string, string> = {},
    script = manifest.scripts.start,
  ): Promise<Outcome> {
    await using launched = await this.launch(pretended, environment, { script })
    const code = await launched.ended
    const { output, errors, pid } = launched
    return { code, output, errors, pid }
  }

  /** Starts the launcher as a script of npm does, as a child of the `parent` command if there is one. */
  async launch(
    pretended: Pretended,
    environment: Record<string, string> = {},
    { parent = [], script = manifest.scripts.start }: { parent?: readonly string[]; script?: string } = {},
  ): Promise<Launched> {
    const lines = Object.entries(pretended).map(
      ([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' })`,
    )
    await this.write('pretend.cjs', [...lines, sayWhatHappens].join('\n'))
    const args = ['--require', join(this.path, 'pretend.cjs'), ...script.replace(/^exec node /, '').split(' ')]
    const env = { PATH: process.env['PATH'] ?? '', ...environment }
    const [command = '', ...rest] = [...parent, process.execPath, ...args]
    // A group of its own: a test that has failed leaves no process behind.
    return new Launched(spawn(command, rest, { cwd: this.path, env, detached: process.platform !== 'win32' }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}

const needed = manifest.engines.node.replace('>=', '')
const isOwnNodeKnown = nodePackage in manifest.optionalDependencies

test('an old Node without packages is told to run npm ci', { skip: !isOwnNodeKnown }, async () => {
  await using project = await Project.create({ withPackages: false })
  const { code, output, errors } = await project.run({ version: 'v12.22.0' })
  const sentence = `this is Node 12.22.0 and the service needs ${needed} or newer: run npm ci, which installs that Node for this project\n`
  assert.deepEqual([code, output, errors], [1, '', sentence])
})

test('macOS with an old Node is told what to install', async () => {
  await using project = await Project.create()
  const { code, output, errors } = await project.run({ version: 'v24.20.9', platform: 'darwin' })
  const cure = 'install Node 24 from https://nodejs.org, or with nvm install 24, and run npm ci again'
  const sentence = `this is Node 24.20.9 and the service needs ${needed} or newer: ${cure}\n`
  assert.deepEqual([code, output, errors], [1, '', sentence])
})

test('an old Node hands over to the Node that npm ci installed', { skip: !isOwnNodeKnown }, async () => {
  await using project = await Project.create({ withNode: true })
  const { code, output, errors } = await project.run({ version: 'v20.1.0' })
  assert.deepEqual([code, errors], [0, ''])
  assert.equal((JSON.parse(output) as { version: string }).version, process.version)
})

test('a Node that cannot replace itself starts the other one as a process', { skip: !isOwnNodeKnown }, async () => {
  await using project = await Project.create({ withNode: true })
  await project.write('src/main.ts', `${main}\nprocess.exit(3)`)
  const { code, output, errors, pid } = await project.run({ version: 'v20.1.0', execve: '' })
  assert.deepEqual([code, errors], [3, ''])
  const started = JSON.parse(output) as { version: string; pid: number }
  assert.equal(started.version, process.version)
  assert.notEqual(started.pid, pid)
})

test('a Node of the packages that does not run here is named', { skip: !isOwnNodeKnown }, async () => {
  await using project = await Project.create()
  const binary = `node_modules/${nodePackage}/bin/node`
  await project.write(binary, '#!/nowhere/loader')
  await chmod(join(project.path, binary), 0o755)
  const { code, output, errors } = await project.run({ version: 'v20.1.0' })
  const path = join(project.path, binary)
  const sentence = `${path} does not run here (ENOENT): install Node ${needed} or newer and delete that file\n`
  assert.deepEqual([code, output, errors], [1, '', sentence])
})

// Stands in for a service that runs until its parent ends.
const longMain = `
process.on('parentEnded', () => { console.log('stops in order'); process.exit() })
setInterval(() => undefined, 1000)
console.log('runs')`
// Stands in for a service that runs until its standard input ends.
const readingMain = `
process.stdin.resume().on('end', () => process.exit())
console.log('runs')`

describe('a second process', { skip: process.platform === 'win32' || !isOwnNodeKnown }, () => {
  test('ends with the npm of the first one', async () => {
    await using project = await Project.create({ withNode: true })
    await project.write('src/main.ts', longMain)
    const byNpm = { npm_lifecycle_event: 'start', npm_package_json: join(project.path, 'package.json') }
    const shell = ['sh', '-c', '"$0" "$@"; exit $?']
    await using launched = await project.launch({ version: 'v20.1.0', execve: '' }, byNpm, { parent: shell })
    await launched.says('runs')
    launched.send('SIGKILL')
    await launched.says('stops in order')
    await launched.ended
  })

  test('gets the signals of the launcher', async () => {
    await using project = await Project.create({ withNode: true })
    await project.write('src/main.ts', `process.on('SIGINT', () => process.exit(4))\n${longMain}`)
    await using launched = await project.launch({ version: 'v20.1.0', execve: '' })
    await launched.says('runs')
    launched.send('SIGINT')
    assert.equal(await launched.ended, 4)
    assert.equal(launched.output, 'runs\ninterrupted\npassed on SIGINT\n')
  })

  test('gets Ctrl+C from Windows itself, and not from the launcher, which could only kill it', async () => {
    await using project = await Project.create()
    await project.write('src/main.ts', readingMain)
    await project.write('.env', 'NODE_OPTIONS=--title=from-file\n')
    await using launched = await project.launch({ platform: 'win32' })
    await launched.says('runs')
    launched.send('SIGINT')
    await launched.says('interrupted')
    launched.endInput()
    assert.equal(await launched.ended, 0)
    assert.equal(launched.output, 'runs\ninterrupted\n')
  })
})

test('a newer Node than the needed one is used as it is', async () => {
  await using project = await Project.create()
  const { code, output, errors, pid } = await project.run({ version: 'v100.0.0' })
  assert.deepEqual([code, errors], [0, ''])
  assert.equal((JSON.parse(output) as { pid: number }).pid, pid)
})

const isKept = async (folder: string) => (await readdir(folder, { recursive: true })).length > 1

test('what Node has compiled is kept for the next start', async () => {
  await using project = await Project.create()
  const { code, errors } = await project.run()
  assert.deepEqual([code, errors], [0, ''])
  assert.equal(await isKept(join(project.path, 'node_modules/.cache/compiled')), true)
})

test('what Node has compiled is kept where the environment says', async () => {
  await using project = await Project.create()
  const folder = join(project.path, 'elsewhere')
  assert.equal((await project.run({}, { NODE_COMPILE_CACHE: folder })).code, 0)
  assert.equal(await isKept(folder), true)
  await assert.rejects(readdir(join(project.path, 'node_modules/.cache')), { code: 'ENOENT' })
})

test('a start that cannot keep what Node has compiled says nothing of it', async () => {
  await using project = await Project.create()
  await project.write('node_modules/.cache', 'not a folder')
  const { code, errors } = await project.run()
  assert.deepEqual([code, errors], [0, ''])
})

test('missing packages are named', async () => {
  await using project = await Project.create()
  await rm(join(project.path, 'node_modules', 'pg'), { recursive: true })
  await rm(join(project.path, 'node_modules', '@fastify', 'static'), { recursive: true })
  const { code, errors } = await project.run()
  assert.deepEqual([code, errors], [1, `packages are missing (@fastify/static, pg): run npm ci in ${project.path}\n`])
})

test('the environment comes before the .env file', async () => {
  await using project = await Project.create()
  await project.write('.env', 'HOST=from-file\nPORT=1\n')
  const { output, errors, pid } = await project.run({}, { PORT: '2', LOG_LEVEL: 'warn' })
  assert.equal(errors, '')
  const { HOST, PORT, LOG_LEVEL, pid: own } = JSON.parse(output) as Record<string, unknown>
  assert.deepEqual([HOST, PORT, LOG_LEVEL, own], ['from-file', '2', 'warn', pid])
})

test('options for Node in the .env file take effect', async () => {
  await using project = await Project.create()
  await project.write('.env', 'NODE_OPTIONS=--title=from-file\nHOST=from-file\n')
  const { output, errors, pid } = await project.run()
  assert.equal(errors, '')
  const { HOST, title, pid: own } = JSON.parse(output) as Record<string, unknown>
  assert.deepEqual([HOST, title], ['from-file', 'from-file'])
  if (process.platform !== 'win32') assert.equal(own, pid, 'no second process stays')
})

test('an .env file that cannot be read is named', async () => {
  await using project = await Project.create()
  await mkdir(join(project.path, '.env'))
  const { code, errors } = await project.run()
  assert.equal(code, 1)
  assert.match(errors, /^\S+\.env cannot be read \(\w+\): correct or remove it\n$/)
})

test('the programs of the terminal say the same about an old Node and missing packages', async () => {
  await using project = await Project.create({ withPackages: false })
  for (const name of programs) {
    const run = (pretended: Pretended) => project.run(pretended, {}, manifest.scripts[name])
    const old = await run({ version: 'v12.22.0', platform: 'darwin' })
    assert.match(old.errors, /^this is Node 12\.22\.0 and [^\n]+ install Node 24 [^\n]+\n$/)
    const bare = await run({})
    assert.match(bare.errors, /^packages are missing \([^\n]+\): run npm ci in [^\n]+\n$/)
    assert.deepEqual([old.code, bare.code], [1, 1])
  }
})

test('a program of the terminal gets its arguments and the .env file', async () => {
  await using project = await Project.create({ withNode: true })
  await project.write('.env', 'HOST=from-file\n')
  for (const pretended of isOwnNodeKnown ? [{}, { version: 'v20.1.0' }] : [{}]) {
    const { output, errors } = await project.run(pretended, {}, `${manifest.scripts.link} shop --inbox`)
    assert.equal(errors, '')
    const { HOST, args } = JSON.parse(output) as Record<string, unknown>
    assert.deepEqual([HOST, args], ['from-file', ['shop', '--inbox']])
  }
})

test('an unknown program is named', async () => {
  await using project = await Project.create()
  const { code, errors } = await project.run({}, {}, `${manifest.scripts.start} lnik`)
  assert.deepEqual(
    [code, errors],
    [1, 'there is no program "lnik": the programs are link, doctor, adopt, backup, restore, demo\n'],
  )
})
