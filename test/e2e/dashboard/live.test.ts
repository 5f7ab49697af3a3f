// The connection of the dashboard in a real browser: what the pages show when the stream of events is refused, cut off or
// given up.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { AgentWorld } from '../../harness/agent-world.ts'
import { openBrowser, withoutBrowser } from '../../harness/browser.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { DashboardView } from './harness/dashboard-view.ts'
import { holdAnswer } from './harness/held-answer.ts'

const show = (page: Page, state: 'visible' | 'hidden') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  `)

const isStream = (request: { url(): string }) => request.url().endsWith('/api/events')

const badge = (page: Page) => page.locator('.instance-head .badge')

describe('the connection of the dashboard', { skip: withoutBrowser }, () => {
  test('a page whose session was ended by another page asks for the token', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service })
    const { page } = view
    await page.getByText('There is no instance yet.').waitFor()
    const end = `fetch('../api/session', { method: 'DELETE', headers: { 'x-causeway-dashboard': '1' } })`
    await page.evaluate(`${end}.then(({ status }) => { if (status !== 200) throw new Error(String(status)) })`)
    await page.getByLabel('API token').waitFor()
  })

  test('a page that gets no events says so, although the service answers', async () => {
    await using service = await Service.start()
    const ended = new AbortController()
    const listen = () =>
      fetch(`${service.app.url}/api/events`, {
        headers: { authorization: `Bearer ${apiToken}` },
        signal: ended.signal,
      })
    const streams = await Promise.all(Array.from({ length: 32 }, listen))
    assert.ok(streams.every(({ status }) => status === 200))
    await using view = await DashboardView.open({ service })
    await view.page.getByText('The service sends no news to this page.').waitFor()
    ended.abort()
    await view.page.getByText('The service sends no news to this page.').waitFor({ state: 'detached' })
  })

  test('a hidden page gives its connection to others, and reads everything again when it is shown', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/instances/n0')
    const { page } = view
    await badge(page).filter({ hasText: 'Ready' }).waitFor()
    await page.clock.install()
    const left = page.waitForEvent('requestfailed', isStream)
    await show(page, 'hidden')
    await page.clock.fastForward(11_000)
    await left
    await world.disconnect()
    await world.write('later')
    assert.match((await badge(page).textContent()) ?? '', /Ready/, 'no event arrives')
    const back = page.waitForRequest(isStream)
    await show(page, 'visible')
    await back
    await page.getByText('The oldest waits since').waitFor()
    assert.doesNotMatch((await badge(page).textContent()) ?? '', /Ready/)
  })

  test('an answer that was asked for before an event does not undo the event', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/usage')
    const { page } = view
    const held = await holdAnswer(page, 'GET', '/api/overview')
    await view.goTo('/instances/n0')
    await held.isAnswered
    await world.disconnect()
    await badge(page).waitFor()
    await held.release()
    assert.doesNotMatch((await badge(page).textContent()) ?? '', /Ready/)
  })

  test('an answer that cannot be read is a failure that can be repeated', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service }, '/usage')
    const { page } = view
    await page.route('**/api/overview', (route) => route.fulfill({ status: 200, body: '{"needs_you": [' }))
    await view.goTo('/')
    await page.getByText('the answer does not come from the service: HTTP 200').waitFor()
    await page.unroute('**/api/overview')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('There is no instance yet.').waitFor()
  })

  test('a page that could not be loaded can be loaded again', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service })
    const { page } = view
    await page.getByText('There is no instance yet.').waitFor()
    await page.route('**/usage-page.js', (route) => route.abort())
    await view.goTo('/usage')
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/usage-page.js')
    await again.click()
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    assert.equal(await page.title(), 'Usage · Causeway')
  })

  test('a sign-out that failed is no sign-out', async () => {
    await using service = await Service.start()
    await using view = await DashboardView.open({ service })
    const { page } = view
    await page.route('**/api/session', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('✕ The service does not answer. Try again.').waitFor()
    await page.unroute('**/api/session')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
  })

  test('a service without a token asks for none, and offers no sign-out', async () => {
    await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
    await using browser = await openBrowser()
    const page = await browser.newPage({ locale: 'en-US' })
    await page.goto(`${service.app.url}/static/index.html`)
    await page.getByText('There is no instance yet.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
  })
})
