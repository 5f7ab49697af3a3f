// The agent's page in a real browser, if one is installed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { openBrowser, withoutBrowser } from '../harness/browser.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'

test('an agent reads, answers and sees the ticks change', { skip: withoutBrowser }, async () => {
  await using helpdesk = await SimHelpdesk.start({ quirks: calm })
  const bridge = new DeskClient(helpdesk)
  const chat = await openChat(bridge, '5511888880001')
  await bridge.post(`/conversations/${chat}/messages`, {
    content: 'is it open <b>today</b>?',
    message_type: 'incoming',
  })
  await using browser = await openBrowser()
  const page = await browser.newPage({ viewport: { width: 1100, height: 700 } })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(helpdesk.agentView)
  await page.getByText('Signed in as Alex').waitFor()
  await page.locator('.bubble.incoming', { hasText: 'is it open <b>today</b>?' }).waitFor()
  await page.getByLabel('Reply').fill('until six')
  await page.getByRole('button', { name: 'Send' }).click()
  const answer = page.locator('.bubble.outgoing', { hasText: 'until six' })
  await answer.locator('.tick-sent').waitFor()
  const sent = helpdesk.messages(chat).at(-1)
  assert.equal(sent?.content, 'until six')
  await bridge.patch(`/conversations/${chat}/messages/${sent.id}`, { status: 'read' })
  assert.equal(await answer.locator('.tick-read').textContent(), '✓✓')
  await page.setViewportSize({ width: 400, height: 700 })
  const box = await page.getByLabel('Reply').boundingBox()
  assert.ok(box && box.width > 300 && box.y + box.height < 700, `a narrow screen shows it at ${JSON.stringify(box)}`)
  const picture = process.env['VIEW_SCREENSHOT']
  if (picture !== undefined) await page.screenshot({ path: picture })
  await bridge.patch(`/conversations/${chat}/messages/${sent.id}`, {
    status: 'failed',
    external_error: 'no such number',
  })
  await answer.getByRole('button', { name: 'Retry' }).click()
  await answer.locator('.tick-sent').waitFor()
  assert.deepEqual(problems, [])
  helpdesk.assertNothingRefused()
})
