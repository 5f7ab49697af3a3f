// The page of the demo in a real browser: the whole story with clicks, without barriers, and as a picture for the documentation.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { CliProcess } from '../../cli/harness/cli-process.ts'
import { openBrowser, withoutBrowser } from '../../harness/browser.ts'
import { assertForEverybody, wide } from './harness/axe.ts'
import { takePicture } from './harness/picture.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name }).click()

/** The elements that would move, now or when they change. */
function movingParts(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('*')].filter((each) => {
    const { animationName, transitionDuration } = getComputedStyle(each)
    return animationName !== 'none' || transitionDuration !== '0s'
  }).map(({ className }) => className)`)
}

describe('the page of the demo', { skip: withoutBrowser }, () => {
  test('links, carries messages, survives what is broken, and has no barriers', async () => {
    await using stack = new AsyncDisposableStack()
    const place = await mkdtemp(join(tmpdir(), 'causeway-demo-page-'))
    stack.defer(() => rm(place, { recursive: true, force: true }))
    const demo = stack.use(new CliProcess('../demo/run', [], { TMPDIR: place }))
    await demo.prints(/http:\S+/)
    const browser = stack.use(await openBrowser())
    const page = await browser.newPage({ locale: 'en-US', viewport: wide, reducedMotion: 'reduce' })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()))
    await page.goto(/http:\S+/.exec(demo.output)?.[0] ?? '')
    await page.getByAltText('QR code that links the account').waitFor()
    await assertForEverybody(page, 'the demo before the scan')

    await press(page, 'Scan with the simulated phone')
    await page.locator('.account .badge.good').waitFor()
    await page.locator('.helpdesk').getByText('Is my bike ready?').last().waitFor()
    await press(page, 'Yes! You can pick it up')
    await page.locator('.helpdesk .tick.read').waitFor()
    await page.locator('.phone').getByRole('button', { name: 'Photo' }).click()
    await page.locator('.helpdesk').getByAltText('A photo of a bicycle').last().waitFor()
    assert.deepEqual(await movingParts(page), [], 'a visitor who asks for less motion gets none')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    assert.notDeepEqual(await movingParts(page), [], 'messages move otherwise')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await press(page, 'Quote')
    await page.locator('.helpdesk').getByText('Perfect, I will come at five.').last().waitFor()

    await press(page, 'Cut WhatsApp')
    await press(page, 'With pleasure!')
    await page.getByText('1 on the way').waitFor()
    await page.locator('.account .badge.warn').waitFor()
    await page.locator('.waits > div').filter({ hasText: 'for WhatsApp1' }).waitFor()
    await takePicture(page, 'demo', { width: 1280, height: 1000 })
    await assertForEverybody(page, 'the demo with a cut connection')
    await press(page, 'Connect WhatsApp again')
    await page.getByText('Nothing lost, nothing doubled').waitFor()
    await press(page, 'Now with your own phone and Chatwoot')
    await page.getByRole('dialog').waitFor()
    await assertForEverybody(page, 'the dialog of the demo')
    assert.deepEqual(problems, [])
  })
})
