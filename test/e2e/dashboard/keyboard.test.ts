// The dashboard without a mouse, in a real browser: everything is reached with Tab, and the focus is seen and never lost.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { withoutBrowser } from '../../harness/browser.ts'
import { apiToken } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DashboardView } from './harness/dashboard-view.ts'

type Focus = { tag: string; text: string; isSeen: boolean }

/** More than any page has places to stop at. */
const mostPresses = 100

function focusOf(page: Page): Promise<Focus> {
  return page.evaluate(`(() => {
    const { activeElement: element } = document
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { top, bottom, left, right } = element.getBoundingClientRect()
    const isOnScreen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
    return {
      tag: element.tagName,
      text: element.textContent.trim() || element.labels?.[0]?.textContent.trim() || '',
      isSeen: isOnScreen && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    }
  })()`)
}

/** Presses the key until the focus is on this text. Every place on the way must show that it has the focus. */
async function moveTo(page: Page, text: string, key = 'Tab'): Promise<void> {
  for (let n = 0; n < mostPresses; n++) {
    await page.keyboard.press(key)
    const focus = await focusOf(page)
    // Past the last place of the page the focus is in the bars of the browser.
    if (focus.tag !== 'BODY') assert.ok(focus.isSeen, `the focus on "${focus.text}" (${focus.tag}) is not seen`)
    if (focus.text.startsWith(text)) return
  }
  assert.fail(`the key ${key} does not reach "${text}"`)
}

describe('the keyboard', { skip: withoutBrowser }, () => {
  test('signs in, opens pages, and answers a dialog', async () => {
    await using world = await World.open()
    await using view = await DashboardView.visit(world)
    const { page } = view
    await view.token.waitFor()
    await moveTo(page, 'API token')
    await page.keyboard.type(apiToken)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'n0' }).waitFor()

    await moveTo(page, 'Jobs', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
    assert.equal((await focusOf(page)).tag, 'MAIN', 'a new page begins at its content')

    await moveTo(page, 'Skip to the content', 'Shift+Tab')
    await page.keyboard.press('Enter')
    assert.equal((await focusOf(page)).tag, 'MAIN')

    await moveTo(page, 'Overview', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'n0' }).waitFor()
    await moveTo(page, 'n0')
    await page.keyboard.press('Enter')
    const opener = page.getByRole('button', { name: 'Delete the instance' })
    await opener.waitFor()
    // A section that loads now would move what has the focus off the screen.
    await waitUntil('every section is loaded', async () => (await page.locator('[aria-busy]').count()) === 0)
    await moveTo(page, 'Delete the instance')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const isInside = async () => (await dialog.locator(':focus').count()) > 0
    for (let n = 0; n < 3; n++) {
      // At the end of a dialog Chromium goes through the bars of the browser, and comes back into the dialog.
      const { tag, text } = await focusOf(page)
      assert.ok((await isInside()) || tag === 'BODY', `the focus left the dialog for "${text}" (${tag})`)
      await page.keyboard.press('Tab')
    }
    // The browser moves the focus between its bars and the page in a step of its own, which a next key may overtake.
    await dialog.locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await opener.and(page.locator(':focus')).waitFor()
    assert.equal((await world.service.get('/api/instances/n0')).status, 200)
    view.assertNoProblems()
  })
})
