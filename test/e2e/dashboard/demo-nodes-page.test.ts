// The page of the demo with two nodes, in a real browser: it shows who holds each account, and a killed node loses its accounts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CliProcess } from '../../cli/harness/cli-process.ts'
import { ownPlace } from '../../cli/harness/demo.ts'
import { openBrowser, withoutBrowser } from '../../harness/browser.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { assertForEverybody, wide } from './harness/axe.ts'
import { takePicture } from './harness/picture.ts'

describe('the page of the demo with two nodes', { skip: withoutBrowser || withoutPostgres }, () => {
  test('shows the accounts of each node, and where they go when one is killed', async () => {
    await using stack = new AsyncDisposableStack()
    const { place } = stack.use(await ownPlace())
    const demo = stack.use(new CliProcess('../demo/run', ['--nodes', '2'], { TMPDIR: place }))
    await demo.prints(/http:\S+/)
    const browser = stack.use(await openBrowser())
    const page = await browser.newPage({ locale: 'en-US', viewport: wide, reducedMotion: 'reduce' })
    // Two starts and three links, on a machine that is busy with other tests.
    page.setDefaultTimeout(90_000)
    await page.goto(/http:\S+/.exec(demo.output)?.[0] ?? '')
    const nodes = page.locator('.nodes li')
    await nodes.filter({ hasText: 'west' }).filter({ hasText: 'north' }).waitFor()
    await page.getByRole('button', { name: 'Scan with the simulated phone' }).click()
    await page.locator('.account .badge.good').waitFor()

    await page.getByRole('button', { name: 'kill -9 node 2' }).click()
    await nodes.filter({ hasText: 'dead' }).waitFor()
    await page.getByText(/Node 2 died\. .*: at another node after \d+\.\d s/).waitFor()
    const held = await nodes.filter({ hasText: 'Node 1' }).locator('.held').textContent()
    assert.deepEqual((held ?? '').split(', ').sort(), ['north', 'shop', 'south', 'west'])
    await assertForEverybody(page, 'the demo with a dead node')
    await takePicture(page, 'demo-nodes', { width: 1280, height: 1000 })
    await page.getByRole('button', { name: 'Start node 2' }).click()
    await page.getByRole('button', { name: 'kill -9 node 2' }).waitFor()
  })
})
