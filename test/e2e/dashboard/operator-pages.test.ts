// Helpdesks, jobs, usage, log and settings in a real browser.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { UsageStore } from '../../../src/storage/stores/ledger/usage-store.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { engines } from '../../harness/databases.ts'
import { usageBatch } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { ImportWorld } from '../history/harness/import-world.ts'
import { DashboardView } from './harness/dashboard-view.ts'

const withoutPostgres = !engines.includes('postgres') && 'TEST_ENGINES leaves PostgreSQL out'

/** Presses the button and gives the text of the file that comes. */
async function fileOf(page: Page, button: string): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const file = await coming
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

describe('the pages of an operator', { skip: withoutBrowser }, () => {
  test('a tenant is added, tested, changed without its secrets, and deleted by its name', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/helpdesks')
    const { page } = view
    const tag = '<b>acme</b>'
    await page.getByRole('button', { name: 'Add a tenant' }).click()
    await page.getByLabel('Owner tag').fill(tag)
    await page.getByLabel('Address of the Chatwoot').fill(world.helpdesk.url)
    await page.getByLabel('API access token').fill('wrong')
    await page.getByRole('button', { name: 'Test without saving' }).click()
    await page.getByText(`${world.helpdesk.url} does not accept the API token`).waitFor()
    assert.deepEqual((await world.service.get('/api/tenants')).body, [])

    await page.getByRole('button', { name: 'Save' }).click()
    const card = page.getByRole('article').filter({ has: page.getByRole('heading', { name: tag, exact: true }) })
    await card.getByText(`${world.helpdesk.url} does not accept the API token`).waitFor()
    await card.getByRole('button', { name: 'Change' }).click()
    assert.equal(await card.getByLabel('API access token').inputValue(), '')
    await card.getByLabel('Account').fill('2')
    await card.getByRole('button', { name: 'Save' }).click()
    // The page tests a changed access at once. A deletion before the answer would make it 404.
    await card.getByText(`${world.helpdesk.url} does not accept the API token`).waitFor()
    const [stored] = (await world.service.get('/api/tenants')).body as { downstream_account_id: number }[]
    assert.equal(stored?.downstream_account_id, 2)

    await card.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    assert.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
    await dialog.getByRole('textbox').fill(tag)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There is no tenant.').waitFor()
    view.assertNoProblems()
  })

  test('an inbox that takes nothing shows its cure without a reload', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/helpdesks')
    await view.page.getByText('No problem is known.').waitFor()
    await world.helpdesk.fault({ kind: 'wrong_token' })
    world.bob.text(world.phone, 'hello')
    await view.page.getByText('It takes nothing. Messages wait.').waitFor()
    await view.page.getByText('What to do:').waitFor()
    view.assertNoProblems()
  })

  test('a job appears while the page is open, and its counts when it has ended', async () => {
    await using world = await AgentWorld.open()
    await world.arrived(world.bob.text(world.phone, 'hello'))
    await using view = await DashboardView.open(world, '/jobs')
    await view.page.getByText('There is no job.').waitFor()
    await world.service.request('POST', '/api/instances/n0/contacts/repair?dry_run=true')
    const job = view.page.getByRole('article')
    await job.getByText('Completed').waitFor()
    await job.getByText('Looked at').waitFor()
    // A repair is a dry run unless it is told otherwise.
    await job.getByText('Dry run: nothing is changed.').waitFor()
    view.assertNoProblems()
  })

  test('a job that runs is cancelled only after a question', async () => {
    await using bed = await ImportWorld.open()
    await using view = await DashboardView.open(bed.world, '/jobs')
    const id = await bed.start()
    const job = view.page.getByRole('article')
    await job.getByText('Running').waitFor()
    await job.getByRole('button', { name: 'Cancel the job' }).click()
    assert.equal((await bed.job(id)).ended_at, null, 'the first press only asks')
    await job.getByRole('button', { name: 'Cancel it now' }).click()
    await job.getByText('Cancelled').waitFor()
    assert.equal((await bed.job(id)).status, 'cancelled')
    assert.equal(await job.getByRole('button').count(), 0)
    view.assertNoProblems()
  })

  test('the usage of a month becomes a file', async () => {
    await using world = await AgentWorld.open()
    await world.arrived(world.bob.text(world.phone, 'hello'))
    await using view = await DashboardView.open(world, '/usage')
    const month = new Date().toISOString().slice(0, 7)
    const { name, text } = await fileOf(view.page, 'Download as CSV')
    assert.match(name, /^causeway-usage-\d{4}-\d{2}-\d{4}-\d{2}\.csv$/)
    assert.match(text, /^\uFEFF?month,owner_tag,messages_in,messages_out,.*\r\n/)
    assert.ok(text.includes(`\r\n${month},`), text)
    view.assertNoProblems()
  })

  test('of very many owner tags the first rows are shown, the file has all, and no tag becomes a formula', async () => {
    const formula = `=cmd|' /C calc'!A0`
    const day = new Date().toISOString().slice(0, 10)
    const counts = { messages_in: 1, messages_out: 1, spamguard_blocks: 0, lifecycle_events: 0 }
    const rows = [formula, ...Array.from({ length: 299 }, (_, n) => `tag-${n}`)].map((ownerTag) => {
      return { instance: 'a', day, ownerTag, ...counts }
    })
    await using service = await Service.start({
      seed: (database) => new UsageStore(database).add(usageBatch(rows)),
    })
    await using view = await DashboardView.open({ service }, '/usage')
    const { page } = view
    const lines = page.getByRole('group', { name: 'Usage by month and owner tag' }).getByRole('row')
    await page.getByRole('button', { name: 'Show all 300 rows' }).waitFor()
    assert.equal(await lines.count(), 201)
    const { text } = await fileOf(page, 'Download as CSV')
    assert.equal(text.trimEnd().split('\r\n').length, 301)
    assert.ok(text.includes(`,'${formula},`), text.slice(0, 200))
    await page.getByRole('button', { name: 'Show all 300 rows' }).click()
    await lines.nth(300).waitFor()
    view.assertNoProblems()
  })

  test('a warning appears while the page is open, and the audit log is filtered', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/log')
    const { page } = view
    const warnings = page.getByRole('region', { name: 'Warnings' }).first()
    await warnings.getByText('stored in plain').waitFor()
    await world.helpdesk.fault({ kind: 'wrong_token' })
    world.bob.text(world.phone, 'hello')
    await warnings.getByText('nothing can be delivered there').waitFor()

    await page.getByText('backend.boot').last().waitFor()
    await page.getByLabel('Instance').fill('n0')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('cell', { name: 'backend.boot' }).waitFor({ state: 'detached' })
    view.assertNoProblems()
    await page.getByLabel('Instance').fill('no such name!')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('This could not be loaded: instance is not').waitFor()
  })

  test('a backup is made and listed, and the bundle comes without secrets', async () => {
    await using service = await Service.start({ environment: { DOWNSTREAM_API_TOKEN: 'the-token-of-the-helpdesk' } })
    await using view = await DashboardView.open({ service }, '/settings')
    const { page } = view
    await page.getByRole('row', { name: 'DOWNSTREAM_API_TOKEN set, never shown' }).waitFor()
    await page.getByText('The service has made no backup yet.').waitFor()
    await page.getByRole('button', { name: 'Back up now' }).click()
    await page.getByText('The backup is made:').waitFor()
    await page.getByRole('region', { name: 'Backups' }).getByRole('row').nth(1).waitFor()
    const { name, text } = await fileOf(page, 'Download the bundle')
    assert.match(name, /^causeway-support-.*\.json$/)
    assert.ok(!text.includes('the-token-of-the-helpdesk'))
    assert.ok('versions' in (JSON.parse(text) as object))
    view.assertNoProblems()
  })

  test(
    'with PostgreSQL the page of settings names pg_dump instead of a button',
    { skip: withoutPostgres },
    async () => {
      await using service = await Service.start({ engine: 'postgres' })
      await using view = await DashboardView.open({ service }, '/settings')
      const backups = view.page.getByRole('region', { name: 'Backups' })
      await backups.getByText('pg_dump').waitFor()
      assert.equal(await backups.getByRole('button').count(), 0)
      await view.page.getByText('PostgreSQL').first().waitFor()
      view.assertNoProblems()
    },
  )
})
