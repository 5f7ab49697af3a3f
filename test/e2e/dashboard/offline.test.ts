// The dashboard while the service is away, in a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutBrowser } from '../../harness/browser.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { migratedLocation } from '../../harness/databases.ts'
import { freePort } from '../../harness/free-port.ts'
import { DashboardView } from './harness/dashboard-view.ts'

describe('a service that is away', { skip: withoutBrowser }, () => {
  test('has a banner on the page, which goes when the service is back, and the page shows what is new', async () => {
    await using place = await migratedLocation('sqlite')
    const options = { place, environment: { PORT: String(await freePort()) } }
    const first = await Service.start(options)
    await using view = await DashboardView.open({ service: first })
    const { page } = view
    await page.getByText('0 of 0 ready').waitFor()
    const banner = page.getByRole('status').filter({ hasText: 'The service does not answer.' })
    assert.equal(await banner.count(), 0)
    await first[Symbol.asyncDispose]()
    await banner.waitFor()
    assert.ok(await page.getByText('0 of 0 ready').isVisible(), 'what was known last stays')
    await using second = await Service.start({
      ...options,
      seed: async (database) => {
        const row = sampleInstanceColumns('made-meanwhile', { state: 'disconnected' })
        await database.write(database.query.insertInto('instances').values(row))
      },
    })
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'made-meanwhile' }).waitFor()
    assert.equal(second.app.url, first.app.url)
    view.assertOnlyRequestsFailed(/ERR_/)
  })
})
