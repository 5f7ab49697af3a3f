// The state behind the recordings of helpdesk inboxes.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const inbox = (bench: ReplayBench) => `/inboxes/${bench.ids.actual('inbox', 6)}`

async function show(bench: ReplayBench): Promise<Fields> {
  return (await bench.admin.get(inbox(bench))).body
}

async function list(bench: ReplayBench, by = bench.admin): Promise<{ body: Fields; own: Fields | undefined }> {
  const { body } = await by.get('/inboxes')
  const id = bench.ids.actual('inbox', 6)
  return {
    body,
    own: asList(body['payload'])
      .map(asObject)
      .find((one) => one['id'] === id),
  }
}

let secret = ''

export const inboxPlan: Plan = {
  before: {
    // The recorded account had five other helpdesk inboxes. The agent was a member of all five.
    'create as administrator': async (bench) => {
      bench.ids.bind('inbox', 1, bench.helpdesk.inbox.id)
      for (const id of [2, 3, 4, 5]) await bench.inbox(id, `other-${id}`)
      for (const id of [1, 2, 3, 4, 5]) await bench.join(id)
    },
    'reset_secret as administrator': async (bench) => {
      secret = String((await show(bench))['secret'])
    },
    'delete inbox': (bench) => bench.inbox(10, 'contract-delete'),
  },
  facts: {
    'lengths of the generated values': async (bench) => {
      const { secret, inbox_identifier: identifier, hmac_token: hmac } = await show(bench)
      const all = [secret, identifier, hmac].map(String)
      const lengths = { secret: all[0]?.length, inbox_identifier: all[1]?.length, hmac_token: all[2]?.length }
      return { ...lengths, alphabet_ok: all.every((one) => /^[1-9A-HJ-NP-Za-km-z]+$/.test(one)) }
    },
    'list as administrator: number, own inbox': async (bench) => {
      const { body, own } = await list(bench)
      return { status: 200, count: asList(body['payload']).length, keys: Object.keys(body), own }
    },
    'list as agent (not a member)': async (bench) => {
      const { body, own } = await list(bench, bench.agent)
      return { status: 200, count: asList(body['payload']).length, has_own: own !== undefined }
    },
    'update identifier/secret/hmac_token (ignored?)': async (bench) => {
      const before = await show(bench)
      const webhookUrl = 'https://bridge.example/api/instances/x/webhook'
      const channel = { webhook_url: webhookUrl, secret: 'mine', hmac_token: 'mine', identifier: 'mine' }
      const { status, body } = await bench.admin.patch(inbox(bench), { channel })
      const changed = (key: string) => body[key] !== before[key]
      return {
        status,
        answer: {
          webhook_url: body['webhook_url'],
          secret_changed: changed('secret'),
          hmac_changed: changed('hmac_token'),
          identifier_changed: changed('inbox_identifier'),
        },
      }
    },
    'after reset_secret the secret shown': async (bench) => {
      const shown = (await show(bench))['secret']
      return { changed: shown !== secret, equals_answer: typeof shown === 'string' }
    },
    'list as agent (member)': async (bench) => ({ own: (await list(bench, bench.agent)).own }),
  },
}
