// The pages of an operator when something does not work: they say why, stay usable, and show nothing that is not true any more.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noDestination } from '../../harness/destination.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { Service } from '../../harness/service.ts'
import { World } from '../../harness/world.ts'
import { ScriptedRunner } from '../../jobs/harness/scripted-runner.ts'
import { DashboardView } from './harness/dashboard-view.ts'

/** What a proxy answers that has no patience or no backend. */
const gatewayTimeout = { status: 504, contentType: 'text/html', body: '<h1>504</h1>' }

describe('the pages of an operator', { skip: withoutBrowser }, () => {
  test('say what the service answered, and load again on request', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/jobs')
    const { page } = view
    const refusal = { error: 'the database does not answer: look at its disk', error_code: 'SERVICE_STORAGE_FAILED' }
    for (const [at, route, healthy] of [
      ['/helpdesks', 'destinations', 'No helpdesk is configured.'],
      ['/helpdesks', 'tenants', 'There is no tenant.'],
      ['/jobs', 'jobs', 'There is no job.'],
      ['/usage', 'usage/summary*', 'Nothing was counted in this time.'],
      ['/log', 'warnings', 'stored in plain'],
      ['/log', 'audit*', 'backend.boot'],
      ['/settings', 'settings', 'Settings that differ'],
      ['/settings', 'backups', 'The service has made no backup yet.'],
    ] as const) {
      await view.goTo('/')
      const pattern = `**/api/${route}`
      await page.route(pattern, (asked) => asked.fulfill({ status: 503, json: refusal }))
      await view.goTo(at)
      await page.getByText(`This could not be loaded: ${refusal.error}`).waitFor()
      await page.unroute(pattern)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText(healthy).last().waitFor()
      await page.getByText('This could not be loaded').waitFor({ state: 'detached' })
    }
  })

  test('tell an answer that is not of the service, and a lost connection, apart from an empty list', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/')
    const { page } = view
    await page.route('**/api/jobs', (asked) => asked.fulfill({ contentType: 'text/html', body: '<h1>Log in</h1>' }))
    await view.goTo('/jobs')
    await page.getByText('This could not be loaded: the answer does not come from the service: HTTP 200').waitFor()
    await page.unroute('**/api/jobs')
    await page.route('**/api/jobs', (asked) => asked.abort())
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('This could not be loaded: The service does not answer. Try again.').waitFor()
  })

  test('give the support bundle also when the settings cannot be read', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/')
    const { page } = view
    await page.route('**/api/settings', (asked) => asked.fulfill(gatewayTimeout))
    await view.goTo('/settings')
    await page.getByText('This could not be loaded').waitFor()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the bundle' }).click()
    assert.match((await coming).suggestedFilename(), /^causeway-support-/)
  })

  test('show a backup that a proxy did not wait for', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/settings')
    const { page } = view
    await page.getByText('The service has made no backup yet.').waitFor()
    await page.route('**/api/backup', async (asked) => {
      await asked.fetch()
      await asked.fulfill(gatewayTimeout)
    })
    await page.getByRole('button', { name: 'Back up now' }).click()
    const backups = page.getByRole('region', { name: 'Backups' })
    await backups.getByText('the answer does not come from the service: HTTP 504').waitFor()
    await backups.getByRole('row').nth(1).waitFor()
  })

  test('do not replace a tenant that another person has added meanwhile', async () => {
    await using service = await Service.start({ environment: noDestination })
    await using view = await DashboardView.open({ service }, '/helpdesks')
    const { page } = view
    await page.getByRole('button', { name: 'Add a tenant' }).click()
    await page.getByLabel('Owner tag').fill('acme')
    await page.getByLabel('Address of the Chatwoot').fill('http://127.0.0.1:9')
    await page.getByLabel('API access token').fill('mine')
    const body = { downstream_base_url: 'https://desk.example', downstream_api_token: 'theirs' }
    await service.request('PUT', '/api/tenants/acme', { body })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('There is a tenant with this owner tag already.').waitFor()
    const [stored] = (await service.get('/api/tenants')).body as { downstream_base_url: string }[]
    assert.equal(stored?.downstream_base_url, 'https://desk.example')
    view.assertNoProblems()
  })

  test('show no job of an instance that was deleted', async () => {
    const environment = { SERVICE_HISTORY_IMPORT_ENABLED: 'true' }
    await using world = await World.open({ environment, importRunner: new ScriptedRunner() })
    await using view = await DashboardView.open(world, '/jobs')
    const { page } = view
    await page.getByText('There is no job.').waitFor()
    await world.service.request('POST', '/api/instances/n0/history/import-all-async')
    await page.getByRole('article').getByText('Running').waitFor()
    await world.service.request('DELETE', '/api/instances/n0')
    await page.getByText('There is no job.').waitFor()
    view.assertNoProblems()
  })
})
