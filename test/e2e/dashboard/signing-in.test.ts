// Signing in to the dashboard and out of it, in a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutBrowser } from '../../harness/browser.ts'
import { World } from '../../harness/world.ts'
import { Service } from '../../harness/service.ts'
import { DashboardView } from './harness/dashboard-view.ts'

describe('signing in', { skip: withoutBrowser }, () => {
  test('with a wrong token says so and gives no session; the right one leads to the page that was asked for', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.visit({ service }, '/log')
    const { page } = view
    await view.token.waitFor()
    view.assertNoProblems()
    await view.token.fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'This is not the token of the service.' }).waitFor()
    assert.deepEqual(await view.cookies(), [])
    assert.equal(await page.getByRole('navigation').count(), 0)
    await view.signIn()
    await page.getByRole('heading', { name: 'Log', exact: true }).waitFor()
    assert.deepEqual(await view.cookies(), ['causeway_session'])
    view.assertOnlyRequestsFailed(/401/)
  })

  test('holds over a reload, and ends with the sign-out', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/settings')
    const { page } = view
    await page.reload()
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await view.token.waitFor()
    assert.deepEqual(await view.cookies(), [])
    await page.reload()
    await view.token.waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0)
    view.assertNoProblems()
  })

  test('is asked for again when the service has a new token', async () => {
    await using world = await World.unlinked()
    const { port } = new URL(world.service.app.url)
    await world.restartService({ PORT: port })
    await using view = await DashboardView.open(world, '/usage')
    await view.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor()
    // No click and no reload: the page notices it by its own connection.
    await world.restartService({ PORT: port, SERVICE_API_TOKEN: 'another token' })
    await view.token.waitFor()
    await view.signIn('another token')
    await view.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor()
    // A request during the restart meets a closed port, or a service that says 503 because it is starting.
    view.assertOnlyRequestsFailed(/401|503|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING/)
  })

  test('is not asked for while the service has no token', async () => {
    await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
    await using view = await DashboardView.visit({ service })
    await view.page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    view.assertNoProblems()
  })
})
