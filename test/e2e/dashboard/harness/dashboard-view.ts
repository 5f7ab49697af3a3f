// The dashboard in a real browser. It collects what must not happen on any page.

import assert from 'node:assert/strict'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { openBrowser } from '../../../harness/browser.ts'
import { apiToken } from '../../../harness/service.ts'

type Running = { service: { app: { url: string } } }

export class DashboardView {
  readonly page: Page
  /** Errors of the console, refused files and requests to other servers. */
  readonly problems: string[] = []
  readonly #url: string
  readonly #owned: AsyncDisposableStack

  private constructor(page: Page, url: string, owned: AsyncDisposableStack) {
    this.page = page
    this.#url = url
    this.#owned = owned
    page.on('pageerror', (error) => this.problems.push(error.message))
    page.on('console', (line) => line.type() === 'error' && this.problems.push(line.text()))
    page.on('request', (request) => request.url().startsWith(url) || this.problems.push(`asks ${request.url()}`))
  }

  /** Opens a page of the dashboard, such as `/new-instance`, as a person who is not signed in. */
  static async visit(world: Running, path = '/', options: BrowserContextOptions = {}): Promise<DashboardView> {
    await using stack = new AsyncDisposableStack()
    const browser = stack.use(await openBrowser())
    const { url } = world.service.app
    const page = await browser.newPage({ locale: 'en-US', ...options })
    // Only a hang takes longer, also on a machine whose cores are kept busy by others.
    page.setDefaultTimeout(60_000)
    const view = new DashboardView(page, url, stack.move())
    return await view.#begin(() => page.goto(`${url}/static/index.html#${path}`))
  }

  /** Opens a page of the dashboard and signs in. */
  static async open(world: Running, path = '/', options: BrowserContextOptions = {}): Promise<DashboardView> {
    const view = await DashboardView.visit(world, path, options)
    return await view.#begin(() => view.signIn())
  }

  get token(): Locator {
    return this.page.getByLabel('API token')
  }

  async signIn(token = apiToken): Promise<void> {
    await this.token.fill(token)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
    await this.page.getByRole('button', { name: 'Sign out' }).waitFor()
  }

  async goTo(path: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(path)}`)
  }

  /** The cookies that the browser sends to the API. */
  async cookies(): Promise<string[]> {
    const all = await this.page.context().cookies(`${this.#url}/api/`)
    return all.map(({ name }) => name)
  }

  /** No part of the page is wider than the screen. */
  async assertFits(what = 'the page'): Promise<void> {
    const whole = await this.page.locator('html').evaluate((root: { scrollWidth: number }) => root.scrollWidth)
    assert.equal(whole, this.page.viewportSize()?.width, `${what} scrolls sideways`)
  }

  assertNoProblems(): void {
    assert.deepEqual(this.problems, [])
  }

  /** Browsers write every refused or failed request to the console. */
  assertOnlyRequestsFailed(why: RegExp): void {
    const others = this.problems.filter((line) => !(line.startsWith('Failed to load resource') && why.test(line)))
    assert.deepEqual(others, [])
  }

  /** A view whose first steps fail is closed: the process of the test does not end while its browser is open. */
  async #begin(steps: () => Promise<unknown>): Promise<this> {
    try {
      await steps()
      return this
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}
