// The usual mistakes of a first set-up: the check names each of them once, with its cure.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { checkSetup } from '../../harness/setup-report.ts'
import type { SetupReport } from '../../harness/setup-report.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Mistake = {
  what: string
  make: (world: AgentWorld) => unknown
  /** The check that names it. */
  name: string
  cure: RegExp
}

const callAt = (world: AgentWorld, webhook_url: string) => world.desk.patch('/inboxes/1', { channel: { webhook_url } })

const mistakes: Mistake[] = [
  {
    what: 'no webhook address',
    make: (world) => callAt(world, ''),
    name: 'webhook_address',
    cure: /POST \/api\/instances\/n0\/inbox/,
  },
  {
    what: 'a wrong token',
    make: (world) => world.restartService({ DOWNSTREAM_API_TOKEN: 'no such token' }),
    name: 'token',
    cure: /access token of an administrator/,
  },
  {
    what: 'the token of an agent who is no member of the inbox',
    make: (world) => {
      const { token } = world.helpdesk.world.addAgent({ name: 'Eva', role: 'agent', inboxIds: [] })
      return world.restartService({ DOWNSTREAM_API_TOKEN: token })
    },
    name: 'api_inbox',
    cure: /make the owner of the token an administrator/,
  },
  {
    what: 'a private address',
    make: (world) => {
      world.helpdesk.configure({ allowPrivateNetwork: false })
    },
    name: 'round_trip',
    cure: /SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true/,
  },
  {
    what: 'a wrong secret',
    make: (world) => world.desk.post('/inboxes/1/reset_secret'),
    name: 'webhook_secret',
    cure: /POST \/api\/instances\/n0\/inbox reads the secret/,
  },
  {
    what: 'a public URL at which the service is not',
    make: (world) => callAt(world, 'http://127.0.0.1:9/api/instances/n0/webhook'),
    name: 'round_trip',
    cure: /SERVICE_PUBLIC_URL/,
  },
]

/** Time passes until there is an answer: the round trip waits for a callback that may never come. */
async function checkAll(world: AgentWorld, clock: LeapingClock): Promise<SetupReport> {
  let isAnswered = false
  const asked = checkSetup(world.service, 'n0', 'POST').finally(() => (isAnswered = true))
  // In small steps: the helpdesk must be able to answer before our requests have waited too long on this clock.
  await waitUntil('there is an answer', async () => {
    await clock.advance(100)
    return isAnswered
  })
  return asked
}

for (const { what, make, name, cure } of mistakes) {
  test(`${what}: exactly one check is broken`, async () => {
    const clock = new LeapingClock()
    await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
    await make(world)
    await world.allReady()
    const { ok, checks } = await checkAll(world, clock)
    const broken = checks.filter(({ result }) => result === 'broken')
    assert.deepEqual([ok, broken.map((each) => each.name)], [false, [name]])
    assert.match(broken[0]?.cure ?? '', cure)
  })
}
