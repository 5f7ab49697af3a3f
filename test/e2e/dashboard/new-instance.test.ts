// The wizard for a new instance, in a real browser, with the simulated phone and the simulated helpdesk.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { owner } from '../../harness/instance-api.ts'
import { SetupWorld } from '../../harness/setup-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DashboardView } from './harness/dashboard-view.ts'
import { holdAnswer } from './harness/held-answer.ts'

const narrow = { viewport: { width: 360, height: 740 } }

describe('the wizard for a new instance', { skip: withoutBrowser }, () => {
  test('leads from the name to messages in both directions', async () => {
    await using world = await SetupWorld.open()
    await using view = await DashboardView.open(world, '/new-instance')
    const { page } = view
    await page.getByLabel('Name of the instance').fill('sales')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'Next' }).waitFor()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Make a new inbox “sales”').waitFor()
    assert.equal((await world.service.get('/api/instances/sales')).status, 404, 'nothing is created yet')
    await page.getByRole('button', { name: 'Create the instance and its inbox' }).click()
    await page.getByAltText('QR code to scan with WhatsApp').waitFor()
    const phone = await world.scan('sales')
    await page.getByText(`Write a message to +${owner} from another phone.`).waitFor()
    const bob = world.network.person({ phone: '5511888880001', pushName: 'Bob' })
    const { conversationId } = await world.arrived(bob.text(phone, 'hello'))
    await page.getByText('The helpdesk has it.').waitFor()
    const answer = { content: 'good morning', message_type: 'outgoing' }
    assert.equal((await world.desk.post(`/conversations/${conversationId}/messages`, answer)).status, 200)
    await page.getByText('WhatsApp has it.').waitFor()
    await page.reload()
    await page.getByText('Both directions work. sales is set up.').waitFor()
    const [inbox] = await world.inboxes()
    assert.equal(inbox?.webhook_url, world.webhookOf('sales'))
    view.assertNoProblems()
  })
  test('a new helpdesk is stored only after a test that found it good, and an inbox is taken over only on request', async () => {
    await using world = await SetupWorld.open()
    const { id } = await world.makeInbox('https://elsewhere.example.com/hook')
    await using view = await DashboardView.open(world, '/new-instance/sales/helpdesk', narrow)
    const { page } = view
    const tenants = async () => (await world.service.get('/api/tenants')).body as { owner_tag: string }[]
    await page.getByLabel('A new helpdesk').check()
    await page.getByLabel('Name of the helpdesk').fill('acme')
    await page.getByLabel('Address of the Chatwoot').fill(world.helpdesk.url)
    await page.getByLabel('API access token').fill('wrong')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: '✕' }).filter({ hasText: 'token' }).waitFor()
    const save = page.getByRole('button', { name: 'Save the helpdesk and go on' })
    assert.equal(await save.count(), 0)
    await page.getByLabel('API access token').fill(world.helpdesk.facts.api_token)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await save.waitFor()
    await view.assertFits()
    assert.deepEqual(await tenants(), [])
    await save.click()
    await page.getByText(`Use “By hand” (number ${id})`).click()
    assert.deepEqual(
      (await tenants()).map(({ owner_tag }) => owner_tag),
      ['acme'],
    )
    await page.getByRole('button', { name: 'Create the instance and its inbox' }).click()
    await page.getByText('leads to https://elsewhere.example.com').waitFor()
    assert.equal((await world.inbox(id)).webhook_url, 'https://elsewhere.example.com/hook')
    await page.getByRole('button', { name: 'Take this inbox over' }).click()
    await page.getByAltText('QR code to scan with WhatsApp').waitFor()
    assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales'))
    assert.equal(((await world.service.get('/api/instances/sales')).body as { owner_tag: string }).owner_tag, 'acme')
  })

  test('offers to take over only the inbox that was refused', async () => {
    await using world = await SetupWorld.open()
    const { id } = await world.makeInbox('https://elsewhere.example.com/hook')
    await using view = await DashboardView.open(world, '/new-instance/sales/inbox?helpdesk=')
    const { page } = view
    const takeOver = page.getByRole('button', { name: 'Take this inbox over' })
    await page.getByText(`Use “By hand” (number ${id})`).click()
    await page.getByRole('button', { name: 'Create the instance and its inbox' }).click()
    await takeOver.waitFor()
    await page.getByText('Make a new inbox “sales”').click()
    await takeOver.waitFor({ state: 'detached' })
    await page.getByText(`Use “By hand” (number ${id})`).click()
    await takeOver.waitFor()
  })

  test('stays where the visitor has gone while the instance was created', async () => {
    await using world = await SetupWorld.open()
    await using view = await DashboardView.open(world, '/new-instance/sales/inbox?helpdesk=')
    const { page } = view
    await page.getByText('Make a new inbox “sales”').waitFor()
    const held = await holdAnswer(page, 'POST', '/api/instances/sales/inbox')
    await page.getByRole('button', { name: 'Create the instance and its inbox' }).click()
    await held.isAnswered
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await held.release()
    await page.getByRole('link', { name: 'sales', exact: true }).waitFor()
    assert.match(page.url(), /#\/$/)
  })

  test('waits for no message while no phone is linked', async () => {
    await using world = await SetupWorld.open()
    await world.create({ name: 'sales' })
    await using view = await DashboardView.open(world, '/new-instance/sales/try')
    await view.page.getByText('No phone is linked yet.').waitFor()
    assert.equal(await view.page.getByText('Write a message to').count(), 0)
  })

  test('says at once that a name is taken or wrong', async () => {
    await using world = await World.open()
    await using view = await DashboardView.open(world, '/new-instance')
    const { page } = view
    const next = page.getByRole('button', { name: 'Next' })
    await page.getByLabel('Name of the instance').fill('n0')
    await page.getByText('There is an instance called n0 already.').waitFor()
    assert.ok(await next.isDisabled())
    await page.getByLabel('Name of the instance').fill('n 0')
    await page.getByText('The name begins with a letter or a digit').waitFor()
    assert.ok(await next.isDisabled())
    await page.getByLabel('Name of the instance').fill('n1')
    assert.ok(await next.isEnabled())
  })

  test('shows the newest code, a code to type, and a way on when no code was scanned in time', async () => {
    await using world = await SetupWorld.open({ qrLifetimeMs: 2500, network: { qrRefs: 4 } })
    await world.create({ name: 'sales' })
    await using view = await DashboardView.open(world, '/new-instance/sales/link')
    const { page } = view
    const picture = page.getByAltText('QR code to scan with WhatsApp')
    const first = await picture.getAttribute('src')
    await waitUntil('another code is shown', async () => (await picture.getAttribute('src')) !== first)
    await page.getByText('Type a code instead of scanning').click()
    await page.getByLabel('Phone number of the WhatsApp account').fill(`+${owner}`)
    await page.getByRole('button', { name: 'Ask for a code' }).click()
    await page.getByText('and type this code within').waitFor()
    const renew = page.getByRole('button', { name: 'Show a new code' })
    await renew.waitFor()
    await renew.click()
    await picture.waitFor()
    view.assertNoProblems()
  })

  test('takes a code to type away when it is no longer valid', async () => {
    await using world = await SetupWorld.open()
    await world.create({ name: 'sales' })
    await using view = await DashboardView.open(world, '/new-instance/sales/link')
    const { page } = view
    await page.getByText('Type a code instead of scanning').click()
    await page.getByLabel('Phone number of the WhatsApp account').fill(`+${owner}`)
    await page.clock.install()
    await page.getByRole('button', { name: 'Ask for a code' }).click()
    await page.getByText('and type this code within').waitFor()
    await page.clock.fastForward(300_000)
    await page.getByText('The code is no longer valid.').waitFor()
    assert.equal(await page.locator('.pairing-code').count(), 0)
  })

  test('an answer from before the code was made does not hide the code', async () => {
    await using world = await SetupWorld.open({ qrLifetimeMs: 4000 })
    await using view = await DashboardView.open(world, '/new-instance/sales/link')
    const { page } = view
    await page.getByText('There is no instance called sales.').waitFor()
    const before = { available: false, generated_at: null, expires_in_seconds: null }
    const held = await holdAnswer(page, 'GET', '/api/instances/sales', { qr: before })
    await world.create({ name: 'sales' })
    await held.isAnswered
    await page.getByAltText('QR code to scan with WhatsApp').waitFor()
    await held.release()
    assert.equal(await page.getByAltText('QR code to scan with WhatsApp').count(), 1)
  })

  test('offers no new code for an account that is linked and only disconnected', async () => {
    await using world = await AgentWorld.open()
    await world.disconnect()
    await using view = await DashboardView.open(world, '/new-instance/n0/link')
    const { page } = view
    await page.getByText('The account is linked but not connected.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show a new code' }).count(), 0)
    await world.reconnect()
    await page.getByText('Write to this number now').waitFor()
  })
})
