// Runs the commands that the documents print, except those that are listed here with a reason.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { commandsIn, fencesIn, inlineCommandsIn } from '../../harness/document-commands.ts'
import type { Command } from '../../harness/document-commands.ts'
import { DocumentShell } from '../../harness/document-shell.ts'
import { RealWalk } from './harness/real-walk.ts'
import { ServerWalk } from './harness/server-walk.ts'
import { TrialWalk } from './harness/trial-walk.ts'

const internet = 'needs the internet'
const demo = 'test/cli/demo.test.ts runs it'
const engine = 'needs a container engine'
const bench = 'takes minutes; a test below checks the names'
const benchmarks = globSync('bench/**/*.bench.ts').map((file) => basename(file, '.bench.ts'))
const postgres = 'needs the pg_dump of the server; test/e2e/documents/postgres-dump.test.ts runs it where there is one'
/** Commands that no test runs, and why. */
const notRun: Readonly<Record<string, string>> = {
  'git clone <this repository> causeway && cd causeway': internet,
  'npm ci': internet,
  'curl -fsSL https://deb.nodesource.com/setup_24.x | bash -': internet,
  'npm run demo': demo,
  'npm run demo -- --check': demo,
  'git fetch --tags': internet,
  'git checkout v0.66.0': internet,
  'git checkout v0.65.0': internet,
  'docker compose build': engine,
  'docker compose exec -T causeway-postgres pg_dump --username=causeway --format=custom causeway > causeway.dump':
    engine,
  'docker compose exec -T causeway-postgres pg_restore --username=causeway --clean --if-exists --no-owner --dbname=causeway < causeway.dump':
    engine,
  'docker compose exec -T causeway-postgres psql --username=causeway causeway -c "UPDATE lease SET backup_at = extract(epoch FROM now()) * 1000"':
    engine,
  'npm run release -- minor': 'test/scripts/release.test.ts runs it in a repository of its own',
  'docker buildx build --platform linux/amd64,linux/arm64 --tag causeway:<version> --build-arg COMMIT="$(git rev-parse HEAD)" --build-arg BUILD_DATE="$(date -u +%FT%TZ)" .':
    engine,
  'kubectl create secret generic causeway --from-env-file=.env': engine,
  'kubectl apply -f deploy/kubernetes/sqlite.yml': engine,
  'npm run bench -- instances': bench,
  'npm run bench -- inbound': bench,
  'npm run bench -- outbound': bench,
  'npm run bench -- storage': bench,
  'npm run bench -- nodes': bench,
  'npm run bench -- scale': bench,
  'pg_dump --format=custom --file=causeway.dump "$DATABASE_URL"': postgres,
  'pg_restore --clean --if-exists --no-owner --dbname="$DATABASE_URL" causeway.dump': postgres,
  'psql "$DATABASE_URL" -c "UPDATE lease SET backup_at = extract(epoch FROM now()) * 1000"': postgres,
}

const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/README.md'])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file !== 'CHANGELOG.md')
/** Documents for people who run the service: the commands in their sentences and tables run, too. */
const operatorPages = ['docs/operations.md', 'docs/backup.md', 'docs/security.md']
const forOperators = ['README.md', 'docs/troubleshooting.md', ...operatorPages]
const printed = [
  ...documents.flatMap((document) => commandsIn(document)),
  ...forOperators.flatMap((document) => inlineCommandsIn(document)),
]
const ran = new Set<Command>()
const skip = process.platform === 'win32' && 'the commands are written for a POSIX shell'
const notLinux = process.platform !== 'linux' && 'the server of the guide runs Linux'

/** The commands of a section that a test must run. They count as run when the test has passed. */
function toRun(document: string, section: string): Command[] {
  const found = printed.filter((each) => each.document === document && each.section === section)
  return found.filter(({ text }) => !(text in notRun))
}

function markRun(commands: readonly Command[]): void {
  for (const command of commands) ran.add(command)
}

/** What `doctor` printed at last is in order. A machine without ffmpeg gets advice, which is right. */
function assertGreen(printed: string): void {
  const lines = printed.split('\n').filter((line) => /^ *[✗!] /.test(line) && !line.includes('ffmpeg'))
  assert.deepEqual(lines, [], printed)
  assert.match(printed, /✓ .*a callback of Chatwoot came back/, printed)
}

describe('the commands of', { skip, concurrency: 3 }, () => {
  test('README, "Run", lead from a clone to a message in both directions, and the pages for operators go on', async () => {
    const commands = toRun('README.md', 'Run')
    await using walk = await RealWalk.open()
    await walk.follow(commands)
    await walk.assertTwoWay()
    markRun(commands)
    const doctor = printed.filter(({ document }) => document === 'docs/troubleshooting.md')
    await walk.operate(doctor)
    markRun(doctor)
    const operations = printed.filter(
      ({ document, section }) =>
        document === 'docs/operations.md' || (section === 'in a sentence' && operatorPages.includes(document)),
    )
    const isRestore = ({ text }: Command) => text.startsWith('npm run restore ')
    const isStart = ({ text }: Command) => text === 'node bin/start.cjs'
    // The proxy of the example does not exist. So this command ends the connection, and comes last.
    const isProxy = ({ section }: Command) => section === 'A proxy for one instance'
    const others = operations.filter((each) => !isRestore(each) && !isStart(each))
    await walk.operate([...others.filter((each) => !isProxy(each)), ...others.filter(isProxy)])
    const start = operations.find(isStart)
    assert.ok(start)
    await walk.operateStopped(operations.filter(isRestore), start)
    const upgrade = ['Upgrade a clone', 'Roll back a clone'].flatMap((section) => toRun('docs/upgrading.md', section))
    await walk.operateStopped(upgrade, start)
    markRun([...operations, ...upgrade])
  })

  test(
    'docs/production.md lead from an empty directory to a supervised service with systemd',
    { skip: notLinux },
    async () => {
      const guide = 'docs/production.md'
      const isForDocker = ({ text }: Command) => text.includes('docker') || text.endsWith('/deploy')
      const setUp = ['With systemd', 'Caddy', 'nginx', 'Link the account and check']
      const commands = setUp.flatMap((section) => toRun(guide, section)).filter((each) => !isForDocker(each))
      await using walk = await ServerWalk.open({ settings: 'etc/causeway/causeway.env', domain: 'desk.test' })
      const printed = await walk.follow(commands)
      assertGreen(printed)
      await walk.assertTwoWay()
      assert.match(walk.read('etc/caddy/Caddyfile'), /^desk\.test \{$/m)
      assert.match(walk.read('etc/nginx/conf.d/causeway.conf'), /server_name desk\.test;/)
      markRun(commands)

      const later = [
        ...['Every night, with systemd'].flatMap((section) => toRun('docs/backup.md', section)),
        ...['Tokens', 'Rotate the key'].flatMap((section) => toRun('docs/security.md', section)),
      ]
      await walk.follow(later)
      assert.match(walk.read('etc/causeway/causeway.env'), /^SERVICE_ENCRYPTION_KEY=[^,\n]{44},[^,\n]{44}$/m)
      assert.match(await walk.runNightly(), /"path":/)
      const restore = toRun('docs/backup.md', 'With systemd')
      assert.match(await walk.follow(restore), /✓ .* is the backup /)
      const sections = ['Upgrade with systemd', 'Roll back with systemd']
      const upgrade = sections.flatMap((section) => toRun('docs/upgrading.md', section))
      assert.match(await walk.follow(upgrade), /✓ .* is a complete and checked backup .*✓ .* is the backup /s)
      markRun([...later, ...restore, ...upgrade])
    },
  )

  test(
    'docs/production.md lead from an empty directory to a supervised service with Docker Compose',
    { skip: notLinux },
    async () => {
      const commands = toRun('docs/production.md', 'With Docker Compose')
      const link = toRun('docs/production.md', 'Link the account and check')
      const block = link.find(({ text }) => text.includes('docker'))?.block
      commands.push(...link.filter((each) => each.block === block))
      await using walk = await ServerWalk.open({ settings: 'opt/causeway/deploy/.env', domain: 'desk.test' })
      assertGreen(await walk.follow(commands))
      await walk.assertTwoWay()
      const image = toRun('docs/deploying.md', 'The image')
      await walk.follow(image)
      const backup = ['With Docker Compose', 'In the container', 'A dump in Docker Compose'].flatMap((section) =>
        toRun('docs/backup.md', section),
      )
      assert.match(await walk.follow(backup), /✓ .* is a complete and checked backup .*✓ .* is the backup /s)
      const sections = ['Upgrade with Docker Compose', 'Roll back with Docker Compose']
      const upgrade = sections.flatMap((section) => toRun('docs/upgrading.md', section))
      assert.match(await walk.follow(upgrade), /✓ .* is a complete and checked backup .*✓ .* is the backup /s)
      markRun([...commands, ...image, ...backup, ...upgrade])
    },
  )

  test('docs/moving-in.md take over the inbox of another bridge', async () => {
    const commands = toRun('docs/moving-in.md', 'Steps')
    const isLink = ({ block }: Command) => block === commands.at(-1)?.block
    await using walk = await RealWalk.open()
    const conversation = walk.fillInbox()
    await walk.follow(toRun('README.md', 'Run').filter(({ text }) => !/^npm run (?:link|doctor)/.test(text)))
    await walk.operate(commands.filter((each) => !isLink(each)))
    await walk.follow(commands.filter(isLink))
    assert.equal(await walk.assertTwoWay(), conversation, 'the message is in the conversation of the other bridge')
    markRun(commands)
  })

  test('developers run tests and checks that exist', async () => {
    const isForDevelopers = ({ text }: Command) => /^npm (?:test|run test:|run check)/.test(text)
    const commands = printed.filter(isForDevelopers)
    await using shell = await DocumentShell.open({ environment: { LIST_ONLY: '1' } })
    for (const { text } of commands) assert.match(await shell.run(text), /^(?:\S+\.test\.(?:ts|mjs)|check:\w+)$/m, text)
    markRun(commands)
  })

  test('README, "Try it without a phone", lead to a message in both directions', async () => {
    const commands = toRun('README.md', 'Try it without a phone')
    const last = commands.at(-1)?.block
    await using walk = await TrialWalk.open()
    await walk.follow(commands.filter(({ block }) => block !== last))
    await walk.answer('We are open until six.')
    assert.match(await walk.follow(commands.filter(({ block }) => block === last)), /We are open until six\./)
    markRun(commands)
  })

  test('docs/simulator.md run the simulated WhatsApp', async () => {
    const commands = printed.filter(({ document }) => document === 'docs/simulator.md')
    await using walk = await TrialWalk.open()
    const [start, ...others] = commands
    assert.ok(start)
    await walk.follow([start])
    await walk.control('/accounts', { phone: '5511999990001', name: 'Ana' })
    assert.match(await walk.follow(others), /"messages":/)
    markRun(commands)
  })
})

test('every command of the documents ran, or is listed with the reason why not', { skip }, () => {
  const missing = printed.filter((each) => !ran.has(each) && !(each.text in notRun))
  assert.deepEqual(
    missing.map(({ document, section, text }) => `${document}, "${section}": ${text}`),
    [],
  )
})

test('the list of commands that are not run names only commands that are printed', () => {
  const texts = new Set(printed.map(({ text }) => text))
  assert.deepEqual(
    Object.keys(notRun).filter((text) => !texts.has(text)),
    [],
  )
})

test('no command to copy restores with --current, which sends messages again that a service has sent since the backup', () => {
  assert.deepEqual(
    printed.filter(({ text }) => text.includes('--current')),
    [],
  )
})

test('the benchmarks that the documents name exist', () => {
  const named = printed.flatMap(({ text }) => /^npm run bench -- ([\w-]+)/.exec(text)?.[1] ?? [])
  assert.ok(named.length > 0)
  assert.deepEqual(
    named.filter((name) => !benchmarks.some((each) => each === name || each.startsWith(`${name}-`))),
    [],
  )
})

test('docs/testing.md says what each benchmark compares', () => {
  const rows = readFileSync('docs/testing.md', 'utf8').split('\n')
  assert.ok(benchmarks.length > 0)
  assert.deepEqual(
    benchmarks.filter((name) => !rows.some((row) => row.startsWith(`| \`${name}\``))),
    [],
  )
})

test('README needs eight lines of commands', () => {
  const [first, ...others] = printed.filter(({ document, section }) => document === 'README.md' && section === 'Run')
  const walk = others.filter(({ block }) => block === first?.block)
  assert.equal(1 + walk.length, 8)
  assert.match(walk.at(-1)?.text ?? '', /^npm run link /)
})

test('commands stand in blocks marked "sh"', () => {
  const others = documents.filter((document) =>
    fencesIn(document).some((name) => ['bash', 'shell', 'console', 'zsh'].includes(name)),
  )
  assert.deepEqual(others, [])
})

test('documents name only npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const unknown = documents.flatMap((document) => {
    const named = [...readFileSync(document, 'utf8').matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name)
    return named.filter((name) => !(name in scripts)).map((name) => `${document}: ${name}`)
  })
  assert.deepEqual(unknown, [])
})

test('a command is read with its section, over several lines and without its comment', () => {
  const text = ['## Start', '   ```sh', '   # nothing', '   one \\', "     --two '# 3' # four", '   ```', 'five'].join(
    '\n',
  )
  assert.deepEqual(commandsIn('a.md', text), [
    { document: 'a.md', section: 'Start', block: 1, text: "one --two '# 3'" },
  ])
})
