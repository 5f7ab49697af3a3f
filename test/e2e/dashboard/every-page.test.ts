// Every page of the dashboard in a real browser: without barriers in light, in dark and at 360 px, and as pictures for the
// documentation. One service and one browser, because opening them takes longer than looking at a page.

import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { withoutBrowser } from '../../harness/browser.ts'
import { apiToken } from '../../harness/service.ts'
import { assertForEverybody, wide } from './harness/axe.ts'
import { DashboardView } from './harness/dashboard-view.ts'
import { openLivedInWorld } from './harness/lived-in-world.ts'
import { takePicture } from './harness/picture.ts'

type Looked = {
  path: string
  /** Waits until the page shows what it loads. */
  until: (page: Page) => Promise<unknown>
  /** The name of its picture in docs/images. */
  picture?: string
}

const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor()

const pages: readonly Looked[] = [
  { path: '/', until: text('2 of 4 ready'), picture: 'dashboard-overview' },
  { path: '/new-instance', until: (page) => page.getByLabel('Name of the instance').waitFor() },
  { path: '/new-instance/shop/helpdesk', until: (page) => page.getByRole('link', { name: 'Next' }).waitFor() },
  { path: '/new-instance/shop/inbox?helpdesk=', until: text('Make a new inbox') },
  {
    path: '/new-instance/returns/link',
    until: (page) => page.getByAltText('QR code to scan with WhatsApp').waitFor(),
    picture: 'dashboard-new-instance',
  },
  { path: '/new-instance/sales/try', until: text('sales is set up.') },
  { path: '/instances/sales', until: text('Checks that are fine'), picture: 'dashboard-instance' },
  { path: '/instances/support', until: text('Try all again') },
  { path: '/helpdesks', until: (page) => page.getByRole('heading', { name: 'acme' }).waitFor() },
  { path: '/jobs', until: text('Completed') },
  { path: '/usage', until: (page) => page.getByRole('button', { name: 'Download as CSV' }).waitFor() },
  { path: '/nodes', until: text('One process holds every instance.') },
  { path: '/log', until: (page) => page.getByText('instance.create').first().waitFor({ state: 'attached' }) },
  { path: '/settings', until: (page) => page.getByRole('button', { name: 'Back up now' }).waitFor() },
  { path: '/no-such-page', until: text('There is no such page.') },
]

describe('every page', { skip: withoutBrowser }, () => {
  test('has no barriers in light, in dark and at 360 px, and fits the screen', async () => {
    await using world = await openLivedInWorld()
    await using view = await DashboardView.visit(world, '/', { viewport: wide, colorScheme: 'light' })
    const { page } = view
    await view.token.waitFor()
    await assertForEverybody(page, 'the sign-in page')
    await view.signIn(apiToken)
    for (const { path, until, picture } of pages) {
      await view.goTo(path)
      await until(page)
      if (picture !== undefined) await takePicture(page, picture)
      await assertForEverybody(page, path)
    }
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('2 of 4 ready').waitFor()
    await view.goTo('/instances/support')
    await page.getByRole('button', { name: 'Delete the instance' }).click()
    await page.getByRole('dialog').waitFor()
    await assertForEverybody(page, 'the dialog of a deletion')
    view.assertNoProblems()
  })
})
