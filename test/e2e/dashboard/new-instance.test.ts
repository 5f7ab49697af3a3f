// The wizard for a new instance, in a real browser, with the simulated phone and the simulated helpdesk.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutBrowser } from '../../harness/browser.ts'
import { owner } from '../../harness/instance-api.ts'
import { SetupWorld } from '../../harness/setup-world.ts'
import { DashboardView } from './harness/dashboard-view.ts'

const shots = process.env['WIZARD_SHOTS']

describe('the wizard for a new instance', { skip: withoutBrowser }, () => {
  test('leads from the name to messages in both directions', async () => {
    await using world = await SetupWorld.open()
    await using view = await DashboardView.open(world, '/new-instance')
    const { page } = view
    const shoot = async (name: string) => {
      if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true })
    }
    await page.getByLabel('Name of the instance').fill('sales')
    await shoot('1-name')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'Next' }).waitFor()
    await shoot('2-helpdesk')
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Make a new inbox “sales”').waitFor()
    await shoot('3-inbox')
    assert.equal((await world.service.get('/api/instances/sales')).status, 404, 'nothing is created yet')
    await page.getByRole('button', { name: 'Create the instance and its inbox' }).click()
    await page.getByAltText('QR code to scan with WhatsApp').waitFor()
    await shoot('4-link')
    const phone = await world.scan('sales')
    await page.getByText(`Write a message to +${owner} from another phone.`).waitFor()
    await shoot('5-try')
    const bob = world.network.person({ phone: '5511888880001', pushName: 'Bob' })
    const { conversationId } = await world.arrived(bob.text(phone, 'hello'))
    await page.getByText('The helpdesk has it.').waitFor()
    const answer = { content: 'good morning', message_type: 'outgoing' }
    assert.equal((await world.desk.post(`/conversations/${conversationId}/messages`, answer)).status, 200)
    await page.getByText('WhatsApp has it.').waitFor()
    await shoot('6-done')
    await page.reload()
    await page.getByText('Both directions work. sales is set up.').waitFor()
    const [inbox] = await world.inboxes()
    assert.equal(inbox?.webhook_url, world.webhookOf('sales'))
    view.assertNoProblems()
  })
})
