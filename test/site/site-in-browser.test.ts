// The site of the documentation in a real browser: under a strict policy in a subfolder, and from a folder without a server.

import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { assertForEverybody } from '../e2e/dashboard/harness/axe.ts'
import { openBrowser, withoutBrowser } from '../harness/browser.ts'
import { LoopbackServer } from '../harness/loopback-server.ts'
import { BuiltSite } from './harness/built-site.ts'

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css',
  js: 'text/javascript',
}
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'"

/** A static host that serves the site below `/docs/` and that allows nothing but files of its own. */
function hostOf(site: BuiltSite): RequestListener {
  return ({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://host')
    const name = decodeURI(pathname.slice('/docs/'.length))
    const body = site.files.get(name)
    response.writeHead(body === undefined ? 404 : 200, {
      'content-security-policy': policy,
      'content-type': types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    })
    response.end(body)
  }
}

describe('the site in a browser', { skip: withoutBrowser }, () => {
  let site: BuiltSite
  let host: LoopbackServer
  let browser: Browser
  before(async () => {
    site = await BuiltSite.build()
    host = await LoopbackServer.start(hostOf(site))
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
    await host[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  /** A page, and what its browser complains about. */
  async function open(address: string, bypassCSP = false): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ bypassCSP })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (line) => problems.push(line.text()))
    page.on('response', (answer) => answer.status() >= 400 && problems.push(`${answer.url()}: ${answer.status()}`))
    page.on(
      'request',
      (request) => request.url().startsWith(new URL('.', address).href) || problems.push(request.url()),
    )
    await page.goto(address)
    return { page, problems }
  }

  /** Searches from the first page, follows the first result and comes to its heading. */
  async function searchFrom(start: string): Promise<void> {
    const { page, problems } = await open(start)
    await page.getByRole('searchbox').fill('journal trick')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('status').getByText('section').waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), 'journal trick')
    await page.getByRole('main').getByRole('link').first().click()
    await page.waitForURL(/docs\/architecture\.html#three-ideas-to-know-first$/)
    assert.deepEqual(problems, [])
  }

  test('the search leads to a section, under a policy that allows only own files, in a subfolder', async () => {
    await searchFrom(host.url('127.0.0.1', '/docs/index.html'))
  })

  test('the search works from a folder, without a server', async () => {
    await searchFrom(pathToFileURL(`${site.folder}/index.html`).href)
  })

  test('results follow the words as they are typed, and words that no section has are named', async () => {
    const { page, problems } = await open(host.url('127.0.0.1', '/docs/search.html'))
    const status = page.getByRole('status')
    assert.equal(await status.textContent(), 'Type a word.')
    await page.getByRole('searchbox').fill('<b>encryp')
    await status.getByText('No section has all of these words.').waitFor()
    await page.getByRole('searchbox').fill('encryp')
    await status.getByText(/\d+ sections/).waitFor()
    assert.ok((await page.getByRole('main').getByRole('link').count()) > 3)
    assert.deepEqual(problems, [])
  })

  test('no barrier in light, in dark and at 360 px, and no page scrolls sideways', async () => {
    for (const name of ['index.html', 'docs/configuration.html', 'search.html?q=retry']) {
      const { page } = await open(host.url('127.0.0.1', `/docs/${name}`), true)
      await assertForEverybody(page, name)
    }
  })

  test('on a narrow screen a link leads to the list of pages', async () => {
    const { page } = await open(host.url('127.0.0.1', '/docs/docs/operations.html'))
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByRole('link', { name: 'Pages', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Configuration' }).click()
    await page.waitForURL(/docs\/configuration\.html$/)
  })
})
