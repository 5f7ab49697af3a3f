// The dashboard in a real browser, signed in. It collects what must not happen on any page.

import assert from 'node:assert/strict'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser } from '../../../harness/browser.ts'
import { apiToken } from '../../../harness/service.ts'

type Running = { service: { app: { url: string } } }

export class DashboardView {
  readonly page: Page
  /** Errors of the console, refused files and requests to other servers. */
  readonly problems: string[] = []
  readonly #owned: AsyncDisposableStack

  private constructor(page: Page, url: string, owned: AsyncDisposableStack) {
    this.page = page
    this.#owned = owned
    page.on('pageerror', (error) => this.problems.push(error.message))
    page.on('console', (line) => line.type() === 'error' && this.problems.push(line.text()))
    page.on('request', (request) => request.url().startsWith(url) || this.problems.push(`asks ${request.url()}`))
  }

  /** Opens a page of the dashboard, such as `/new-instance`, and signs in. */
  static async open(world: Running, path = '/', options: BrowserContextOptions = {}): Promise<DashboardView> {
    await using stack = new AsyncDisposableStack()
    const browser = stack.use(await openBrowser())
    const { url } = world.service.app
    const page = await browser.newPage({ locale: 'en-US', ...options })
    const view = new DashboardView(page, url, stack.move())
    await page.goto(`${url}/static/index.html#${path}`)
    await page.getByLabel('API token').fill(apiToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('main').waitFor()
    // The question whether there is a session is answered with 401 before the visitor signs in.
    view.problems.length = 0
    return view
  }

  async goTo(path: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(path)}`)
  }

  /** No part of the page is wider than the screen. */
  async assertFits(): Promise<void> {
    const whole = await this.page.locator('html').evaluate((root: { scrollWidth: number }) => root.scrollWidth)
    assert.equal(whole, this.page.viewportSize()?.width, 'the page scrolls sideways')
  }

  assertNoProblems(): void {
    assert.deepEqual(this.problems, [])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}
