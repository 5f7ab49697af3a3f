// The page of an instance in a real browser: what it shows without a reload, and what an operator changes there.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { AgentWorld } from '../../harness/agent-world.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { SetupWorld } from '../../harness/setup-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DashboardView } from './harness/dashboard-view.ts'
import { holdAnswer } from './harness/held-answer.ts'

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
    await parked.getByRole('button', { name: 'Cancel' }).click()
    await parked.locator('button:focus', { hasText: 'Drop' }).click()
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

  test('keeps what is typed while the changes before are saved', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/instances/n0')
    const settings = section(view.page, 'Settings')
    await settings.getByLabel('Messages per minute, at most').fill('7')
    const held = await holdAnswer(view.page, 'PATCH', '/api/instances/n0')
    await settings.getByRole('button', { name: 'Save the changes' }).click()
    await held.isAnswered
    await settings.getByLabel('Messages per minute, at most').fill('8')
    await settings.getByLabel('Header of messages in groups').fill('$name')
    await held.release()
    await settings.getByText('Saved.').waitFor()
    await section(view.page, 'Audit log').getByText('fields: outgoing_rate_limit').waitFor()
    assert.equal(await settings.getByLabel('Messages per minute, at most').inputValue(), '8')
    assert.equal(await settings.getByLabel('Header of messages in groups').inputValue(), '$name')
    await settings.getByRole('button', { name: 'Save the changes' }).click()
    await waitUntil('the rest is stored', async () => {
      const stored = (await world.detail('n0')) as unknown as Record<string, unknown>
      return stored['outgoing_rate_limit'] === 8 && stored['header_template'] === '$name'
    })
  })

  test('offers a new code when none was scanned in time', async () => {
    await using world = await SetupWorld.open({ qrLifetimeMs: 1500, network: { qrRefs: 1 } })
    await world.create({ name: 'sales' })
    await world.reaches('sales', (state) => state === 'disconnected')
    await using view = await DashboardView.open(world, '/instances/sales')
    const link = section(view.page, 'Link the phone')
    await link.getByRole('button', { name: 'Show a new code' }).click()
    await link.getByAltText('QR code to scan with WhatsApp').waitFor()
  })

  test('shows no number that the helpdesk names in its refusal', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/usage')
    const error = 'Phone number +55 11 98888-7777 and 5511988887777@s.whatsapp.net are taken'
    const parked = [{ id: '1', kind: 'message', received_at: new Date(0).toISOString(), attempts: 3, error }]
    await view.page.route('**/parked', (route) => route.fulfill({ json: { instance: 'n0', parked } }))
    await view.goTo('/instances/n0')
    const table = section(view.page, 'Messages that were set aside')
    await table.getByText('Phone number …77 and …77@s.whatsapp.net are taken').waitFor()
  })

  test('gives the focus back after a question that was cancelled', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world, '/instances/n0')
    const { page } = view
    const restart = page.getByRole('button', { name: 'Restart the connection' })
    for (const cancel of [
      () => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click(),
      () => page.keyboard.press('Escape'),
    ]) {
      await restart.click()
      await page.getByRole('dialog').waitFor()
      await cancel()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.locator('button:focus', { hasText: 'Restart the connection' }).waitFor()
    }
  })

  test('says after the deletion that WhatsApp has not confirmed the logout', async () => {
    await using world = await AgentWorld.open()
    await world.disconnect()
    await using view = await DashboardView.open(world, '/instances/n0')
    const { page } = view
    await page.getByLabel('When deleting, also log out at WhatsApp').check()
    await page.getByRole('button', { name: 'Delete the instance' }).click()
    await page.getByRole('dialog').getByLabel('Type n0 to confirm.').fill('n0')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the instance' }).click()
    await page.getByText('deleted. ').waitFor()
    assert.match(page.url(), /instances\/n0$/)
  })

  test('offers the stored list again when the choice is taken back', async () => {
    await using world = await AgentWorld.open()
    await world.patch('n0', { ignore_jids: ['*@g.us'] })
    await using view = await DashboardView.open(world, '/instances/n0')
    const settings = section(view.page, 'Settings')
    const choice = settings.getByLabel('Chats that are not bridged')
    await settings.getByText('*@g.us', { exact: true }).waitFor()
    await choice.selectOption({ label: 'As the service' })
    await settings.getByText('*@g.us', { exact: true }).waitFor({ state: 'detached' })
    await choice.selectOption({ label: 'A list of its own' })
    await settings.getByText('*@g.us', { exact: true }).waitFor()
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
