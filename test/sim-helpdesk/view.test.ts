// The agent's view is served as it lies there, and needs nothing from anywhere else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'

test("the agent's view is one page and one style sheet, and writes nothing as HTML", async () => {
  await using helpdesk = await SimHelpdesk.start()
  const page = await fetch(`${helpdesk.url}/app`)
  assert.match(page.headers.get('content-type') ?? '', /text\/html/)
  const html = await page.text()
  assert.doesNotMatch(html, /innerHTML|insertAdjacentHTML|https?:\/\//)
  assert.equal((await fetch(`${helpdesk.url}/app/view.css`)).status, 200)
  helpdesk.assertNothingRefused()
})
