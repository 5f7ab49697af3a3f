// The overview in a real browser: what needs the operator, a card for each instance, and changes without a reload.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Database } from '../../../src/storage/database.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { DashboardView } from './harness/dashboard-view.ts'

const card = (page: Page, name: string) => {
  const list = page.getByRole('region', { name: 'Instances' }).getByRole('listitem')
  return list.filter({ has: page.getByRole('link', { name, exact: true }) })
}

/** CPU time of the page's thread in milliseconds: other work on the machine counts little. */
async function scriptTime(page: Page, work: () => Promise<void>): Promise<number> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const soFar = async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? NaN)
  }
  const before = await soFar()
  await work()
  const took = (await soFar()) - before
  await client.detach()
  return took
}

async function leastOf(times: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = []
  while (measured.length < times) measured.push(await measure())
  return Math.min(...measured)
}

/** What this machine needs for 100,000 elements with a text. Only what a timer runs counts as script. */
async function createElements(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    setTimeout(() => {
      const parent = document.createElement('div')
      for (let index = 0; index < 100_000; index++) {
        const element = document.createElement('p')
        element.textContent = 'element ' + index
        parent.append(element)
      }
      resolve()
    }, 0)
  })`)
}

describe('the overview', { skip: withoutBrowser }, () => {
  test('follows messages, connections and a helpdesk that takes nothing', async () => {
    await using world = await AgentWorld.open({ accounts: 2 })
    await using view = await DashboardView.open(world)
    const { page } = view
    const n0 = card(page, 'n0')
    await page.getByText('2 of 2 ready').waitFor()
    await page.getByText('Nothing needs you. Messages flow.').waitFor()
    assert.match((await n0.textContent()) ?? '', /Ready.*Last message innever/s)

    await world.arrived(world.bob.text(world.phone, 'hello'))
    await n0.getByText('this minute').waitFor()

    await world.disconnect()
    await page.getByText('1 of 2 ready').waitFor()
    await world.reconnect()
    await page.getByText('2 of 2 ready').waitFor()

    await world.helpdesk.fault({ kind: 'wrong_token' })
    world.bob.text(world.phone, 'is anybody there')
    const needs = page.getByRole('region', { name: 'Needs you' })
    await needs.getByText('The helpdesk takes nothing').waitFor()
    await needs.getByText('What to do:').waitFor()
    await n0.getByText('Waiting for the helpdesk! 1').waitFor()
    view.assertNoProblems()
  })

  test('forgets a need that a message has cured', async () => {
    await using world = await AgentWorld.open()
    await using view = await DashboardView.open(world)
    const needs = view.page.getByRole('region', { name: 'Needs you' })
    await needs.getByText('Nothing needs you. Messages flow.').waitFor()
    await world.post(world.callback(9001, 'refused'), { secret: 'wrong' })
    await needs.getByText('Callbacks are refused').waitFor()
    assert.equal(await needs.getByRole('status').first().textContent(), 'Things that need you: 1')
    await world.write('accepted')
    await world.received('accepted')
    await needs.getByText('Nothing needs you. Messages flow.').waitFor()
  })

  test('200 instances take less script than 500 plain elements for each, and can be filtered', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `shop-${index}`)
    const seed = async (database: Database) => {
      for (const [index, name] of names.entries()) {
        const state = index % 10 === 0 ? ('logged_out' as const) : ('disconnected' as const)
        await database.write(database.query.insertInto('instances').values(sampleInstanceColumns(name, { state })))
      }
    }
    await using service = await Service.start({ seed })
    await using view = await DashboardView.open({ service }, '/new-instance')
    const { page } = view
    const list = async () => {
      await view.goTo('/new-instance')
      return scriptTime(page, async () => {
        await view.goTo('/')
        await page.getByText('200 of 200 instances').waitFor()
      })
    }
    const [took, naive] = [await leastOf(3, list), await leastOf(3, () => scriptTime(page, () => createElements(page)))]
    assert.ok(took < naive, `${took} ms, and ${naive} ms for the elements`)
    await page.getByLabel('Name').fill('SHOP-17')
    await page.getByText('11 of 200 instances').waitFor()
    await page.getByLabel('State').selectOption('logged_out')
    await page.getByText('1 of 200 instances').waitFor()
    assert.ok(await card(page, 'shop-170').isVisible())
    view.assertNoProblems()
  })
})
