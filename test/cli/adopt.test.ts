// The command that takes over an inbox asks a real service between a simulated Chatwoot and a simulated WhatsApp.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AdoptWorld, bobsPhone } from '../e2e/adoption/harness/adopt-world.ts'
import { apiToken } from '../harness/service.ts'
import { CliProcess } from './harness/cli-process.ts'

const token = { SERVICE_API_TOKEN: apiToken }
const adopt = (world: AdoptWorld, ...args: string[]) =>
  CliProcess.run('adopt', [...args, '--url', world.service.app.url], token)

describe('npm run adopt', { concurrency: 2 }, () => {
  test('says what it found, takes it over when it may, and finds nothing more', async () => {
    await using world = await AdoptWorld.with('evolution')
    const messages = [{ id: '3EB0OLD1', text: 'hello', at: Date.now() - 86_400_000 }]
    const bob = world.fill({ phone: bobsPhone, conversations: [{ messages }] })
    world.fillOwn()
    const asked = await adopt(world, '--from', 'evolution', '--instance', 'n0')
    assert.equal(asked.code, 1)
    assert.match(
      asked.output,
      /^The inbox has 2 contacts with a conversation\.\n {2}1 can be taken over, 0 are taken over/,
    )
    assert.match(asked.output, /^ {2}Older messages that can be quoted then: 1\.$/m)
    assert.match(asked.output, /^ {2}1 contact made by evolution for itself: left alone\.$/m)
    assert.equal(asked.errors, 'There is no terminal to ask: repeat the command with --yes.\n')
    assert.deepEqual((await world.stored()).flat(), [], 'nothing was changed')
    const done = await adopt(world, '--from', 'evolution', '--instance', 'n0', '--yes')
    assert.deepEqual([done.code, done.errors], [0, ''])
    assert.match(done.output, /\n✓ 1 contact taken over, 1 conversation in use, 1 older message known\.\n$/)
    const message = await world.arrived(world.bob.text(world.phone, 'hi'))
    assert.equal(message.conversationId, bob.conversations[0])
    const again = await adopt(world, '--from', 'evolution', '--instance', 'n0')
    assert.equal(again.code, 0, again.errors)
    assert.match(again.output, /\n✓ Everything is taken over\.\n$/)
  })

  test('warns of a bridge that has written a moment ago', async () => {
    await using world = await AdoptWorld.with('gowa')
    world.fill({ phone: bobsPhone, conversations: [{ messages: [{ id: '3EB0NEW1', text: 'hello' }] }] })
    const { output } = await adopt(world, '--from', 'gowa', '--instance', 'n0')
    assert.match(output, /^! gowa wrote into the inbox 0 minutes ago\. Unlink its device first/m)
  })

  test('says in one sentence what is wrong', async () => {
    await using world = await AdoptWorld.with('waha')
    const cases = [
      [['--instance', 'n0'], 1, /^Name the bridge that has filled the inbox: --from evolution, --from waha/],
      [['--from', 'baileys', '--instance', 'n0'], 1, /^Name the bridge/],
      [['--from', 'waha'], 1, /^Name the instance with --instance <name>\.\n$/],
      [['--from', 'waha', '--instance', 'nowhere'], 1, /nowhere/],
      [['--from', 'waha', '--instance', 'n0', '--yes'], 1, /^Nothing of waha was found in the inbox/],
      [['--from', 'waha', '--instance', 'n0', 'more'], 1, /^There is an argument too many: more/],
    ] as const
    for (const [args, code, sentence] of cases) {
      const found = await adopt(world, ...args)
      assert.equal(found.code, code, args.join(' '))
      assert.match(found.errors, sentence)
    }
    const wrong = ['--from', 'waha', '--instance', 'n0', '--url', world.service.app.url]
    const refused = await CliProcess.run('adopt', wrong, { SERVICE_API_TOKEN: 'wrong' })
    assert.equal(refused.code, 2)
    assert.match(refused.errors, /^The service refused the API token/)
    await world.stop()
    const stopped = await adopt(world, '--from', 'waha', '--instance', 'n0')
    assert.equal(stopped.code, 2)
    assert.match(stopped.errors, /^The service does not answer: .* Start it with npm start/)
  })
})
