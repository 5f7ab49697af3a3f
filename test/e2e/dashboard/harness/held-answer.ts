// Holds the real answer to one request of the page until the test lets it go.

import type { Page, Route } from 'playwright-core'

type Held = {
  isAnswered: Promise<void>
  /** Ends when the page has got the answer and is drawn again. */
  release: () => Promise<void>
}

const drawn = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/**
 * The next request with this method and a path that ends so is answered by the service, but the page does not get it yet.
 * `earlier` are the fields that a request a moment before would have found otherwise.
 */
export async function holdAnswer(page: Page, method: string, path: string, earlier: object = {}): Promise<Held> {
  const answered = Promise.withResolvers<undefined>()
  const gate = Promise.withResolvers<undefined>()
  const passed = Promise.withResolvers<undefined>()
  let isFirst = true
  await page.route(
    (url) => url.pathname.endsWith(path),
    async (route: Route) => {
      if (!isFirst || route.request().method() !== method) {
        await route.fallback()
        return
      }
      isFirst = false
      const response = await route.fetch()
      answered.resolve(undefined)
      await gate.promise
      const finished = page.waitForEvent('requestfinished', (request) => request === route.request())
      await route.fulfill({ response, json: { ...((await response.json()) as object), ...earlier } })
      await finished
      await page.evaluate(drawn)
      passed.resolve(undefined)
    },
  )
  const release = async () => {
    gate.resolve(undefined)
    await passed.promise
  }
  return { isAnswered: answered.promise, release }
}
