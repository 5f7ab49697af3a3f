// The launcher on machines that cannot run the service or a program of the terminal as they are: another Node, missing
// packages, an .env file.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import manifest from '../../../package.json' with { type: 'json' }

const root = fileURLToPath(new URL('../../../', import.meta.url))
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
// Stands in for the service: says what it was started with.
const main = `console.log(JSON.stringify({
  version: process.version, title: process.title, pid: process.pid, args: process.argv.slice(2),
  HOST: process.env.HOST, PORT: process.env.PORT, LOG_LEVEL: process.env.LOG_LEVEL,
}))`

const programs = ['link', 'doctor', 'backup', 'restore'] as const

type Pretended = { version?: string; platform?: string }
type Outcome = { code: number | null; output: string; errors: string; pid: number | undefined }

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

  /** Runs the launcher on a Node that pretends to be another one. */
  async run(
    pretended: Pretended = {},
    environment: Record<string, string> = {},
    script = manifest.scripts.start,
  ): Promise<Outcome> {
    const lines = Object.entries(pretended).map(
      ([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' })`,
    )
    await this.write('pretend.cjs', lines.join('\n'))
    const args = ['--require', join(this.path, 'pretend.cjs'), ...script.replace(/^exec node /, '').split(' ')]
    const env = { PATH: process.env['PATH'] ?? '', ...environment }
    const child = spawn(process.execPath, args, { cwd: this.path, env })
    let [output, errors] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, output, errors, pid: child.pid }
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
  const { code, output, errors, pid } = await project.run({ version: 'v20.1.0', execve: '' } as Pretended)
  assert.deepEqual([code, errors], [3, ''])
  const started = JSON.parse(output) as { version: string; pid: number }
  assert.equal(started.version, process.version)
  assert.notEqual(started.pid, pid)
})

test('a newer Node than the needed one is used as it is', async () => {
  await using project = await Project.create()
  const { code, output, errors, pid } = await project.run({ version: 'v100.0.0' })
  assert.deepEqual([code, errors], [0, ''])
  assert.equal((JSON.parse(output) as { pid: number }).pid, pid)
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
  assert.deepEqual([code, errors], [1, 'there is no program "lnik": the programs are link, doctor, backup, restore\n'])
})
