// Names and sentences that look like markup, in a real browser. Operators, helpdesks and other servers choose them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { SetupWorld } from '../../harness/setup-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DashboardView } from './harness/dashboard-view.ts'

/** Each has its own word, so that a page that shows one of them is not taken for a page that shows another. */
const markup = (word: string) => `<img src=x onerror="document.title='${word}'">"'&lt;${word}`

async function seed(database: Database): Promise<void> {
  const instance = sampleInstanceColumns('shop', {
    state: 'logged_out',
    ownerTag: markup('tag'),
    lastError: markup('last-error'),
  })
  await database.write(database.query.insertInto('instances').values(instance))
  const job = { id: 'a', type: 'contacts_import', instance: 'shop', status: 'failed', params: '{}' } as const
  const times = { created_at: 1000, started_at: 1000, ended_at: 2000 }
  const unknown = { progress: null, result: null }
  await database.write(
    database.query.insertInto('jobs').values({ ...job, ...times, ...unknown, error: markup('job-error') }),
  )
  const used = { messages_in: 1, messages_out: 0, spamguard_blocks: 0, lifecycle_events: 0 }
  const today = new Date().toISOString().slice(0, 10)
  await database.write(
    database.query.insertInto('usage').values({ instance: 'shop', day: today, owner_tag: markup('tag'), ...used }),
  )
  await database.write(
    database.query.insertInto('audit').values({
      ...{ ts: 1000, actor: 'api', action: 'instance.patch', instance: 'shop', owner_tag: '' },
      target: markup('target'),
      metadata: JSON.stringify({ [markup('key')]: markup('value') }),
    }),
  )
}

/** The pages, and the words whose markup each of them shows. */
const pages: readonly [path: string, words: readonly string[]][] = [
  ['/', ['tag', 'last-error']],
  ['/instances/shop', ['tag', 'last-error', 'key', 'value']],
  [`/instances/${encodeURIComponent(markup('address'))}`, ['address']],
  ['/helpdesks', ['tag']],
  ['/new-instance/sales/helpdesk', ['tag']],
  [`/new-instance/sales/inbox?helpdesk=${encodeURIComponent(markup('tag'))}`, ['inbox']],
  ['/jobs', ['job-error']],
  ['/usage', ['tag']],
  ['/log', ['target', 'key', 'value', 'warning', 'detail']],
]

describe('names that look like markup', { skip: withoutBrowser }, () => {
  test('are shown as they are, and run nothing', async () => {
    await using world = await SetupWorld.open({ seed })
    await world.makeInbox('https://elsewhere.example/hook', markup('inbox'))
    const tenant = { downstream_base_url: world.helpdesk.url, downstream_api_token: world.helpdesk.facts.api_token }
    const put = await world.service.request('PUT', `/api/tenants/${encodeURIComponent(markup('tag'))}`, {
      body: tenant,
    })
    assert.ok(put.status < 300, put.text)
    world.service.logs.log.warn({ instance: 'shop', reason: markup('detail') }, markup('warning'))
    await using view = await DashboardView.open(world)
    const { page } = view
    for (const [path, words] of pages) {
      await view.goTo(path)
      for (const word of words) {
        // Details are shown as JSON.
        const text = page.getByText(markup(word)).or(page.getByText(JSON.stringify(markup(word)).slice(1, -1)))
        await waitUntil(`${path} shows ${word}`, async () => (await text.count()) > 0)
      }
      assert.equal(await page.locator('img[src=x]').count(), 0, path)
      assert.match(await page.title(), / · Causeway$/, path)
    }
    view.assertNoProblems()
  })
})
