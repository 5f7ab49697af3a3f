// Links simulated phones with the program of the terminal, which reads nothing but what it prints.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { owner } from '../harness/instance-api.ts'
import { apiToken } from '../harness/service.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { World } from '../harness/world.ts'
import type { WorldOptions } from '../harness/world.ts'
import { CliProcess, patienceMs } from './harness/cli-process.ts'
import { lastPicture, readDrawnQr } from './harness/read-drawn-qr.ts'

const token = { SERVICE_API_TOKEN: apiToken }

async function setUp(options: Omit<WorldOptions, 'accounts'> = {}) {
  const world = await World.unlinked(options)
  const phone = world.network.account({ phone: owner })
  const link = (...args: string[]) =>
    new CliProcess('link', ['shop', '--url', world.service.app.url, '--no-check', ...args], token)
  return { world, phone, link, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** The text of the code that stands in the terminal, once it differs from the other one. */
async function codeIn(program: CliProcess, other?: string): Promise<string> {
  let code = ''
  const isDrawn = () => {
    const lines = lastPicture(program.output)
    code = (lines.length > 0 ? readDrawnQr(lines, true) : null) ?? ''
    return code !== '' && code !== other
  }
  await waitUntil('the program draws a code', isDrawn, { timeoutMs: patienceMs, instead: () => program.output })
  return code
}

describe('npm run link', { concurrency: 2 }, () => {
  test('a phone scans the code in the terminal, and the program ends when the account is ready', async () => {
    await using stage = await setUp()
    await using program = stage.link('--owner-tag', 'acme')
    await stage.phone.scan(await codeIn(program))
    const { code, output, errors } = await program.ended()
    assert.deepEqual([code, errors], [0, ''])
    assert.match(output, /Linked devices/)
    assert.match(output, /✓ shop is linked with 5511999990001 and ready\.\n$/)
    const detail = (await stage.world.service.get('/api/instances/shop')).body as Record<string, unknown>
    assert.deepEqual([detail['state'], detail['owner_tag']], ['ready', 'acme'])
  })

  test('a code that changes is drawn anew, and the newest one counts', async () => {
    await using stage = await setUp({ qrLifetimeMs: 3000 })
    await using program = stage.link()
    const first = await codeIn(program)
    await stage.phone.scan(await codeIn(program, first))
    assert.equal((await program.ended()).code, 0)
  })

  test('with --code the program shows a code to type on the phone', async () => {
    await using stage = await setUp()
    await using program = stage.link('--code', `+${owner}`)
    await program.prints(/The code is \w{4}-\w{4}\./)
    const code = /The code is (\w{4})-(\w{4})\./.exec(program.output)?.slice(1).join('') ?? ''
    await stage.phone.link(code)
    const { code: exitCode, output } = await program.ended()
    assert.equal(exitCode, 0)
    assert.deepEqual(lastPicture(output), [])
  })

  test('with --inbox the instance gets a helpdesk inbox', async () => {
    await using stage = await setUp({ environment: { SERVICE_PUBLIC_URL: 'http://bridge.example' } })
    await using program = stage.link('--inbox')
    await program.prints(/^✓ The instance has the helpdesk inbox 1 \(WhatsApp\)\.\n/)
    await stage.phone.scan(await codeIn(program))
    assert.equal((await program.ended()).code, 0)
  })

  test('an account that is linked already is taken as it is', async () => {
    await using stage = await setUp()
    await stage.world.pair('shop')
    const { code, output } = await stage.link().ended()
    assert.equal(code, 0)
    assert.match(output, /^✓ shop is linked with 5511999990001 and ready\.\n$/)
  })

  test('when no phone scans in time, the program ends and says how to go on', async () => {
    await using stage = await setUp({ qrLifetimeMs: 1500, network: { qrRefs: 1 } })
    const { code, output, errors } = await stage.link().ended()
    assert.equal(code, 1)
    assert.match(output, /No phone was linked with these codes in time\./)
    assert.equal(errors, 'Run this command again for new codes.\n')
  })

  test('a pairing that WhatsApp refuses ends with its reason', async () => {
    await using stage = await setUp()
    stage.phone.asksPasskey = true
    await using program = stage.link()
    await assert.rejects(stage.phone.scan(await codeIn(program)), /hung up/)
    const { code, errors } = await program.ended()
    assert.equal(code, 1)
    assert.match(errors, /^The account could not be linked: WhatsApp asks for a passkey[^\n]*\n$/)
  })

  test('Ctrl+C ends the program, and the instance stays', async () => {
    await using stage = await setUp()
    await using program = stage.link()
    await codeIn(program)
    program.send('SIGINT')
    const { code, errors } = await program.ended()
    assert.deepEqual([code, errors], [130, ''])
    assert.equal((await stage.world.detail('shop')).state, 'qr_pending')
  })

  test('a name, a token or an address that is wrong is named in one sentence', async () => {
    await using stage = await setUp()
    const { url } = stage.world.service.app
    const refusals: [args: string[], environment: Record<string, string>, code: number, sentence: RegExp][] = [
      [['no/name', '--url', url], token, 1, /^[^\n]*name[^\n]*\n$/],
      [['shop', '--url', url], {}, 2, /^The service refused the API token: set SERVICE_API_TOKEN [^\n]*\n$/],
      [['shop', '--url', url], { SERVICE_API_TOKEN: 'wrong' }, 2, /^The service refused the API token/],
      [['shop'], { PORT: '1' }, 2, /^The service does not answer: .*127\.0\.0\.1:1.* Start it with npm start[^\n]*\n$/],
      [['shop', '--url', stage.world.helpdesk.url], {}, 2, /is not this service: name the address/],
      [['shop', '--url', 'nowhere'], {}, 1, /^nowhere is no address of a service/],
      [['shop'], { PORT: 'x' }, 1, /the configuration is not usable:\n {2}PORT=x/],
    ]
    for (const [args, environment, code, sentence] of refusals) {
      const ended = await CliProcess.run('link', args, environment)
      assert.match(ended.errors, sentence)
      assert.deepEqual([ended.code, ended.output], [code, ''], args.join(' '))
    }
  })
})
