// The state behind the recordings of tokens, roles and error bodies.

import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

async function withHeader(bench: ReplayBench, name: string): Promise<unknown> {
  const token = bench.tokens['<admin token>'] ?? ''
  const response = await fetch(`${bench.helpdesk.url}/api/v1/accounts/1/contacts`, { headers: { [name]: token } })
  return { status: response.status }
}

async function openTheWorld(bench: ReplayBench): Promise<void> {
  await bench.inbox(6, 'contract-inbox', {
    channel: { type: 'api', webhook_url: bench.catcher.url, additional_attributes: { agent_reply_time_window: 24 } },
  })
  await bench.person(41, 'Maria 4ef8027865', '5521991090553', 6)
  await bench.conversation(1, { inbox: 6, contact: 41, source: '5521991090553' })
  await bench.conversation(44, { inbox: 6, contact: 41, source: '5521991090553' })
  await bench.message(878, 44, { content: 'hi' })
}

async function fillContacts(bench: ReplayBench, wanted: number): Promise<void> {
  const { body } = await bench.admin.get('/contacts?page=99')
  const have = (body['meta'] as { count: number }).count
  for (let at = have; at < wanted; at++) await bench.must(bench.admin.post('/contacts', { identifier: `fill-${at}` }))
}

async function connectBot(bench: ReplayBench): Promise<void> {
  await bench.must(
    bench.admin.post(`/inboxes/${bench.ids.actual('inbox', 6)}/set_agent_bot`, {
      agent_bot: bench.ids.actual('bot', 3),
    }),
  )
}

async function search(bench: ReplayBench): Promise<unknown> {
  const statuses: Record<string, number> = {}
  let last: Response | undefined
  let body = ''
  for (let at = 0; at < 104; at++) {
    last = await fetch(`${bench.helpdesk.url}/api/v1/accounts/1/contacts/search?q=x`, {
      headers: { 'Api-Access-Token': bench.tokens['<admin token>'] ?? '', 'X-Forwarded-For': '203.0.113.9' },
    })
    statuses[last.status] = (statuses[last.status] ?? 0) + 1
    body = await last.text()
  }
  const type = last?.headers.get('content-type')?.split(';')[0]
  return { statuses, body, headers: { content_type: type, retry_after: last?.headers.get('retry-after') ?? null } }
}

export const errorsPlan: Plan = {
  before: {
    'version, no token': openTheWorld,
    'agent: list contacts (any agent)': (bench) => fillContacts(bench, 37),
    'bot token: list contacts': async (bench) => {
      const bot = await bench.must(bench.admin.post('/agent_bots', { name: 'contract-bot' }))
      bench.ids.bind('bot', 3, bot.body.id)
      bench.tokens['<bot token>'] = String(bot.body['access_token'])
    },
    'bot token, connected: post message': connectBot,
    'contacts/search 104 times within a minute, X-Forwarded-For 203.0.113.9': async ({ helpdesk }) => {
      // The count restarts with each minute of the clock.
      await helpdesk.advance(60_000 - (helpdesk.clock.now() % 60_000))
    },
  },
  facts: {
    'header name Api-Access-Token': (bench) => withHeader(bench, 'Api-Access-Token'),
    'header name api_access_token': (bench) => withHeader(bench, 'api_access_token'),
    'header name API_ACCESS_TOKEN': (bench) => withHeader(bench, 'API_ACCESS_TOKEN'),
    'header name api-access-token': (bench) => withHeader(bench, 'api-access-token'),
    'token as query parameter': async ({ helpdesk, tokens }) => {
      const token = tokens['<admin token>'] ?? ''
      const response = await fetch(`${helpdesk.url}/api/v1/accounts/1/contacts?api_access_token=${token}`)
      const answer: unknown = await response.json()
      return { status: response.status, answer }
    },
    'contacts/search 104 times within a minute, X-Forwarded-For 203.0.113.9': search,
    'the same at that moment from loopback': async ({ admin }) => ({
      status: (await admin.get('/contacts/search?q=x')).status,
    }),
    'contacts/filter at that moment with the forwarded address': async ({ admin }) => ({
      status: (await admin.post('/contacts/filter', { payload: [] })).status,
    }),
  },
}
