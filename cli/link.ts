// npm run link: links a WhatsApp account with the running service, and checks the set-up.

import { systemClock } from '../src/lib/clock.ts'
import { askPerson } from './ask-person.ts'
import { formatFindings, readCheck } from './check-list.ts'
import { exitCodes } from './cli-error.ts'
import { AccountLink } from './link-account.ts'
import { runProgram } from './run-program.ts'
import { Screen } from './screen.ts'
import { locateService, ServiceClient } from './service-client.ts'

const help = `Usage: npm run link -- <name> [--code <phone>] [--inbox] [--owner-tag <tag>] [--url <address>]

Creates the instance <name>, or takes it if it exists. Shows the QR code to scan, until the account is ready.
Then the set-up is checked, as npm run doctor does.

  --code <phone>     show a code to type on the phone with this number, instead of a QR code
  --inbox            also make a helpdesk inbox for the instance at Chatwoot
  --owner-tag <tag>  the tenant of the instance
  --url <address>    where the service is; without it: PORT and HOST of the environment or of .env
  --no-check         do not check the set-up at the end

SERVICE_API_TOKEN comes from the environment or from .env.`

/** Longer than the round trip of the check. */
const checkTimeoutMs = 60_000

await runProgram({
  help,
  options: {
    code: { type: 'string' },
    inbox: { type: 'boolean' },
    'owner-tag': { type: 'string' },
    url: { type: 'string' },
    'no-check': { type: 'boolean' },
  },
  names: { least: 1, most: 1 },
  run: async ({ names: [name = ''], text, has }, stopped) => {
    const service = locateService(process.env, text('url'))
    await using client = new ServiceClient({ ...service, signal: stopped, timeoutMs: checkTimeoutMs })
    const [phone, ownerTag] = [text('code'), text('owner-tag')]
    const screen = new Screen(process.stdout)
    const goesOn = async () =>
      (await askPerson('Press Enter for new codes, or Ctrl+C to stop. ', stopped)) !== undefined
    const link = new AccountLink(
      { client, screen, colours: process.env['NO_COLOR'] === undefined, clock: systemClock, stopped, goesOn },
      {
        name,
        inbox: has('inbox'),
        ...(phone !== undefined && { phone }),
        ...(ownerTag !== undefined && { ownerTag }),
      },
    )
    const jid = await link.run()
    screen.say(`✓ ${name} is linked with ${jid.split('@')[0] ?? ''} and ready.`)
    if (has('no-check')) return exitCodes.ok
    const { body } = await client.expect('POST', `/api/instances/${encodeURIComponent(name)}/check`)
    const { ok, checks } = readCheck(body)
    console.log(formatFindings(checks).join('\n'))
    return ok ? exitCodes.ok : exitCodes.wrong
  },
})
