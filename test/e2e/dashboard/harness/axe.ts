// Looks for barriers on a page with axe-core, in light, in dark, and on a narrow screen.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

type Found = { id: string; impact: string; help: string; places: string[] }

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Only what keeps people from using a page: the rest of axe's rules are advice. */
const search = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, impact, help, nodes }) => ({ id, impact, help, places: nodes.slice(0, 5).map(({ html, failureSummary }) =>
    html.slice(0, 200) + ' ' + (failureSummary ?? '').split('\\n').slice(1, 2).join('')) })))`

export const wide = { width: 1280, height: 800 }
const narrow = { width: 360, height: 740 }

const looks = [
  { look: 'light', colorScheme: 'light', size: wide },
  { look: 'dark', colorScheme: 'dark', size: wide },
  { look: '360 px', colorScheme: 'light', size: narrow },
] as const

/** No barrier in any look, and no sideways scroll. The page has its first look again afterwards. */
export async function assertForEverybody(page: Page, what: string): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(source)
  for (const { look, colorScheme, size } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    const found: Found[] = await page.evaluate(search)
    assert.deepEqual(found, [], `${what}, ${look}`)
    const whole: number = await page.evaluate('document.documentElement.scrollWidth')
    assert.equal(whole, size.width, `${what}, ${look}, scrolls sideways`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(wide)
}
