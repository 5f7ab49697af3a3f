// The page of an instance in a real browser: what it shows without a reload, and what an operator changes there.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { AgentWorld } from '../../harness/agent-world.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DashboardView } from './harness/dashboard-view.ts'

type Entries = { entries: { actor: string; action: string }[] }

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('the page of an instance', { skip: withoutBrowser }, () => {
  test('shows a lost connection, the message that waits, and that it is sent', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/instances/n0')
    const { page } = view
    const outbox = section(page, 'Messages on their way')
    await outbox.getByText('Sent so far0').waitFor()
    await world.disconnect()
    await page.locator('.instance-head .badge.warn, .instance-head .badge.bad').waitFor()
    await world.write('later')
    await outbox.getByText('Wait for WhatsApp1').waitFor()
    await outbox.getByText('The oldest waits since').waitFor()
    await world.reconnect()
    await world.received('later')
    await outbox.getByText('Wait for WhatsApp0').waitFor()
    await outbox.getByText('Sent so far1').waitFor()
    // The lost connection is a row of the table in the chart.
    const states = section(page, 'State over 24 hours')
    await states
      .getByRole('row', { name: /Disconnected/ })
      .first()
      .waitFor({ state: 'attached' })
    await view.assertFits()
    view.assertNoProblems()
  })

  test('tries messages again that were set aside, and drops one only after a question', async () => {
    await using world = await AgentWorld.open()
    await world.arrived(world.bob.text(world.phone, 'fine'))
    await world.helpdesk.fault({ kind: 'status', status: 400, method: 'POST', path: /\/messages$/, times: 4 })
    await using view = await DashboardView.open(world, '/instances/n0')
    const first = world.bob.text(world.phone, 'secret words one')
    world.bob.text(world.phone, 'secret words two')
    const parked = section(view.page, 'Messages that were set aside')
    await parked.getByRole('button', { name: 'Drop', exact: true }).nth(1).waitFor()
    await parked.getByRole('button', { name: 'Drop', exact: true }).nth(1).click()
    assert.equal((await world.health()).checks.inbox_parked, 2, 'the first press only asks')
    await parked.getByRole('button', { name: 'Drop for good' }).click()
    await parked.getByText('Dropped.').waitFor()
    await parked.getByRole('button', { name: 'Try all again' }).click()
    await parked.getByText('None. The helpdesk took every message.').waitFor()
    assert.equal((await world.arrived(first)).content, 'secret words one')
    const shown = (await view.page.locator('body').textContent()) ?? ''
    assert.doesNotMatch(shown, /secret words|Bob|5511888880001/)
    view.assertNoProblems()
  })

  test('saves changed settings only, and shows the sentence of a refusal', async () => {
    await using world = await AgentWorld.open({ environment: { SERVICE_HISTORY_IMPORT_ENABLED: 'true' } })
    await world.patch('n0', {
      network_proxy: 'socks5://user:hidden@127.0.0.1:9',
      ignore_jids: ['5511977776666@s.whatsapp.net'],
    })
    await using view = await DashboardView.open(world, '/instances/n0')
    const settings = section(view.page, 'Settings')
    const save = settings.getByRole('button', { name: 'Save the changes' })
    await settings.getByLabel('Owner tag').waitFor()
    assert.equal(await save.isDisabled(), true, 'nothing changed yet')
    assert.doesNotMatch(await settings.innerHTML(), /hidden|5511977776666/)
    await settings.getByLabel('Messages per minute, at most').fill('7')
    await settings.getByLabel('Calls are rejected').selectOption({ label: 'Yes' })
    await settings.getByLabel('Import the history').check()
    await settings.getByLabel('Days of history').fill('5')
    await save.click()
    await settings.getByText('Saved.').waitFor()
    const stored = (await world.detail('n0')) as unknown as Record<string, unknown>
    assert.deepEqual([stored['outgoing_rate_limit'], stored['reject_calls']], [7, true])
    assert.partialDeepStrictEqual(stored['history'], { enabled: true, days: 5 })
    assert.equal(stored['network_proxy'], 'socks5://127.0.0.1:9', 'the proxy stays')
    await section(view.page, 'Audit log')
      .getByText(/fields: .*outgoing_rate_limit/)
      .waitFor()
    view.assertNoProblems()

    await settings.getByLabel('Proxy of its own').fill('nonsense')
    await save.click()
    await settings.getByText('network_proxy must be').waitFor()
    assert.equal(await save.isDisabled(), false, 'the change can be corrected')
  })

  test('deletes the instance only when its name is typed', async () => {
    await using world = await AgentWorld.open({ accounts: 2 })
    await using view = await DashboardView.open(world, '/instances/n1')
    const { page } = view
    await page.getByRole('button', { name: 'Delete the instance' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete the instance' })
    await dialog.getByLabel('Type n1 to confirm.').fill('n0')
    assert.equal(await confirm.isDisabled(), true)
    await dialog.getByLabel('Type n1 to confirm.').fill('n1')
    await confirm.click()
    await waitUntil('n1 is gone', async () => (await world.service.get('/api/instances/n1')).status === 404)
    await page.getByText('1 of 1 ready').waitFor()
    const { entries } = (await world.service.get('/api/audit?instance=n1')).body as Entries
    assert.deepEqual([entries[0]?.actor, entries[0]?.action], ['dashboard', 'instance.delete'])
    await view.goTo('/instances/n1')
    await page.getByText('There is no instance n1.').waitFor()
  })
})
