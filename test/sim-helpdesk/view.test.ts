// The agent's page is served unchanged and loads nothing from other hosts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'

test("the agent's page is one HTML file and one style sheet, and writes no text as HTML", async () => {
  await using helpdesk = await SimHelpdesk.start()
  const page = await fetch(`${helpdesk.url}/app`)
  assert.match(page.headers.get('content-type') ?? '', /text\/html/)
  const html = await page.text()
  assert.doesNotMatch(html, /innerHTML|insertAdjacentHTML|https?:\/\//)
  assert.equal((await fetch(`${helpdesk.url}/app/view.css`)).status, 200)
  helpdesk.assertNothingRefused()
})
