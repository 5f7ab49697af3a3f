import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CliError } from '../../cli/cli-error.ts'
import { isExpected, readArguments } from '../../cli/run-program.ts'
import { locateService } from '../../cli/service-client.ts'
import { CliProcess } from './harness/cli-process.ts'

const program = {
  help: 'Usage: it <name> [--code <phone>]\n\nmore',
  options: { code: { type: 'string' }, inbox: { type: 'boolean' } },
  names: { least: 1, most: 1 },
} as const

test('arguments are read by name', () => {
  const given = readArguments(program, ['shop', '--code', '123', '--inbox'])
  assert.deepEqual(given.names, ['shop'])
  assert.deepEqual([given.text('code'), given.text('inbox'), given.has('inbox')], ['123', undefined, true])
  assert.equal(readArguments(program, ['--help']).has('help'), true)
})

test('a wrong argument is named, with the usage', () => {
  const refusals: [string[], RegExp][] = [
    [[], /^An argument is missing\.\nUsage: it <name> \[--code <phone>\]$/],
    [['a', 'b'], /too many: b/],
    [['a', '--cod', '1'], /Unknown option '--cod'/],
    [['a', '--code'], /'--code <value>' argument missing/],
  ]
  for (const [args, sentence] of refusals) {
    assert.throws(
      () => readArguments(program, args),
      (error) => error instanceof CliError && sentence.test(error.message),
    )
  }
})

test('the service is where the settings start it', () => {
  const token = 'secret'
  assert.deepEqual(locateService({}), { url: 'http://127.0.0.1:3100', token: '' })
  assert.deepEqual(locateService({ PORT: '80', SERVICE_API_TOKEN: token }), { url: 'http://127.0.0.1:80', token })
  assert.equal(locateService({ HOST: '::1' }).url, 'http://[::1]:3100')
  assert.equal(locateService({ HOST: '::', PORT: '1' }).url, 'http://127.0.0.1:1')
  assert.equal(locateService({ PORT: '0' }, 'https://bridge.example/x').url, 'https://bridge.example')
  assert.throws(() => locateService({ PORT: '0' }), /name its address with --url/)
  assert.throws(() => locateService({}, 'bridge:3100'), /is no address of a service/)
})

test('every program explains itself', async () => {
  for (const name of ['link', 'doctor', 'adopt', 'backup', 'restore']) {
    const { code, output, errors } = await CliProcess.run(name, ['--help'])
    assert.deepEqual([code, errors], [0, ''])
    assert.match(output, new RegExp(`^Usage: npm run ${name} -- `))
  }
})

test('a file that the system refuses is named without a stack, a fault of the code is not', () => {
  assert.throws(() => readFileSync('/nowhere/backup.db'), isExpected)
  assert.equal(isExpected(new TypeError('x is not a function')), false)
})
