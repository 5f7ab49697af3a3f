// The page of nodes in a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onlyNode } from '../../../src/app/nodes/node-view.ts'
import type { Cluster, ListedNode, PastMove } from '../../../src/core/nodes/cluster-view.ts'
import { withoutBrowser } from '../../harness/browser.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { assertForEverybody, wide } from './harness/axe.ts'
import { DashboardView } from './harness/dashboard-view.ts'
import { takePicture } from './harness/picture.ts'

const minute = 60_000
const names = ['bridge-1 pid 1 (5d02c1aa)', 'bridge-2 pid 1 (90b17e34)', 'bridge-3 pid 1 (c44e0f72)'] as const

function listed(index: 0 | 1 | 2, held: number, overrides: Partial<ListedNode> = {}): ListedNode {
  return {
    ...{ id: `n${index}`, name: names[index], state: 'active', build: '0.65.0', protocol: 1, capacity: 100, held },
    ...{ joinedAt: Date.now() - (index + 1) * 50 * minute, isSelf: index === 0, settingsDiffer: false, isCell: false },
    ...overrides,
  }
}

function sampleCluster(): Cluster & { moves: PastMove[] } {
  const move = (instance: string, minutes: number) => ({ instance, at: Date.now() - minutes * minute })
  return {
    nodes: [listed(0, 41), listed(1, 38, { settingsDiffer: true }), listed(2, 17, { state: 'draining' })],
    free: 1,
    quarantined: ['shop', 'support'],
    moves: [
      { ...move('sales', 1), from: names[2], to: names[0], reason: 'hand_over' },
      { ...move('returns', 3), from: 'bridge-4 pid 1 (07aa31d9)', to: names[1], reason: 'death' },
      { ...move('new-york', 9), from: null, to: names[0], reason: 'placed' },
      { ...move('lisbon', 12), from: 'bridge-4 pid 1 (07aa31d9)', to: null, reason: 'death' },
    ],
  }
}

/** A service that shows this cluster. */
function startWith(cluster: Cluster & { moves: PastMove[] }): Promise<Service> {
  return Service.start({
    nodes: { ...onlyNode, cluster: { read: () => Promise.resolve(cluster) } },
    seed: async (database) => {
      const rows = ['shop', 'support'].map((name) => sampleInstanceColumns(name))
      await database.write(database.query.insertInto('instances').values(rows))
    },
  })
}

describe('the page of nodes', { skip: withoutBrowser }, () => {
  test('shows the share of each node, what is wrong with one, and what moved', async () => {
    await using service = await startWith(sampleCluster())
    await using view = await DashboardView.open({ service }, '/nodes', { viewport: wide, colorScheme: 'light' })
    const { page } = view
    await page.getByText('3 nodes · 99 instances · 1 without a node').waitFor()
    const share = page.getByRole('meter', { name: `Share of the instances of ${names[0]}` })
    assert.equal(await share.getAttribute('aria-valuetext'), '41 instances · 41.4%')
    const second = page.getByRole('article').filter({ hasText: names[1] })
    await second.getByText('Its settings differ from those of most nodes.').waitFor()
    await page.getByRole('article').filter({ hasText: names[2] }).getByText('Ending').waitFor()
    const rows = await page.getByRole('table', { name: 'What moved last' }).getByRole('row').allInnerTexts()
    assert.match(rows[1] ?? '', /^sales.*bridge-3.*bridge-1.*Handed over/s)
    assert.match(rows[4] ?? '', /^lisbon.*bridge-4.*no node.*The node died/s)
    await takePicture(page, 'dashboard-nodes')
    await assertForEverybody(page, 'the page of nodes')
    view.assertNoProblems()
  })

  test('a restart ends the quarantine of an instance, and the page shows it', async () => {
    const cluster = sampleCluster()
    await using service = await startWith(cluster)
    await using view = await DashboardView.open({ service }, '/nodes')
    const { page } = view
    await page.getByRole('button', { name: 'Restart shop' }).waitFor()
    cluster.quarantined = ['support']
    await page.getByRole('button', { name: 'Restart shop' }).click()
    await page.getByText('shop restarts.').waitFor()
    await page.getByRole('button', { name: 'Restart shop' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Restart support' }).waitFor()
    view.assertNoProblems()
  })

  test('follows the nodes without a reload', async () => {
    const cluster = sampleCluster()
    await using service = await startWith(cluster)
    await using view = await DashboardView.open({ service }, '/nodes')
    await view.page.getByText(names[2]).first().waitFor()
    cluster.nodes = [listed(0, 58), listed(1, 38)]
    await view.page.getByText('2 nodes · 99 instances · 1 without a node').waitFor()
    view.assertNoProblems()
  })
})
