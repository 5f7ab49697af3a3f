// npm run demo: the page and the check, as processes of their own.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { requestRaw } from '../harness/raw-request.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { CliProcess } from './harness/cli-process.ts'
import { openDemo, ownPlace, program, snapshotOf } from './harness/demo.ts'

describe('npm run demo', () => {
  test('-- --check plays every step, ends with 0 and leaves no file', async () => {
    await using own = await ownPlace()
    const { code, output, errors } = await CliProcess.run(program, ['--check'], { TMPDIR: own.place })
    assert.equal(code, 0, output + errors)
    const steps = [
      'scans',
      'customer writes',
      'blue ticks',
      'photo',
      'voice note',
      'reaction',
      'quote',
      'group',
      'call',
    ]
    const breakages = ['edit', 'deletion', 'twice', 'WhatsApp is cut', 'helpdesk is stopped', 'kill -9']
    for (const step of [...steps, ...breakages]) assert.match(output, new RegExp(`^✓ .*${step}`, 'm'))
    assert.match(output, /^Nothing lost, nothing doubled: 15 messages in, 6 out/m)
    assert.deepEqual(await readdir(own.place), [])
  })

  test('links, carries a message in both directions, and ends with Ctrl+C without a grace and without a file', async () => {
    await using own = await ownPlace()
    await using demo = await openDemo(own.place)
    const { running, url, post, link } = demo
    assert.equal((await link('Is my bike ready?')).status, 200)
    let seen = await snapshotOf(url)
    const look = async () => (seen = await snapshotOf(url))
    await waitUntil('the helpdesk shows it', async () => (await look()).tally.in.arrived === 1)
    assert.equal((await post('answer', { conversation: seen.helpdesk.open, text: 'Yes!' })).status, 200)
    await waitUntil('the phone shows the answer', async () => (await look()).tally.out.arrived === 1)
    assert.deepEqual(
      seen.phone.bubbles.map(({ text }) => text),
      ['Is my bike ready?', 'Yes!'],
    )
    const since = performance.now()
    // npm passes the signal of the terminal on, so it comes more than once.
    const again = setInterval(() => {
      running.send('SIGINT')
    }, 1)
    const { code } = await running.ended()
    clearInterval(again)
    const tookMs = performance.now() - since
    assert.equal(code, 130)
    // A tenth of a second on a quiet machine. The grace of the service would take 12 s.
    assert.ok(tookMs < 5000, `it took ${Math.round(tookMs)} ms`)
    assert.deepEqual(await readdir(own.place), [])
  })

  test('refuses other sites, unknown actions and wrong fields, and serves no other files', async () => {
    await using own = await ownPlace()
    await using demo = await openDemo(own.place)
    const { url, post, link } = demo
    const { host } = new URL(url)
    for (const action of ['write', 'photo', 'voice', 'group', 'call', 'kill']) {
      const response = await post(action, { text: 'x', subject: 'x', later: 'x' })
      assert.equal(response.status, 409, action)
      assert.match(await response.text(), /Scan the QR code first/, action)
    }
    assert.equal((await snapshotOf(url)).tally.in.sent, 0, 'nothing was written')
    await link()
    assert.equal((await post('write', { text: 'x' }, { origin: 'https://evil.example' })).status, 403)
    assert.equal((await requestRaw(url, { path: '/qr.png', headers: { host: 'evil.example' } })).status, 403)
    for (const path of [
      '/static/../package.json',
      '/static/%2e%2e/README.md',
      '/demo/run.ts',
      '/sim/helpdesk/view/view.css',
    ]) {
      assert.equal((await requestRaw(url, { path, headers: { host } })).status, 404, path)
    }
    const refused: [string, object, RegExp][] = [
      ['dance', {}, /no action .*dance/],
      ['constructor', {}, /no action/],
      ['write', {}, /Write a text/],
      ['write', { text: 7 }, /Write a text/],
      ['write', { text: 'x'.repeat(3000) }, /at most 2000/],
      ['answer', { text: 'x', conversation: '1' }, /whole number/],
      ['answer', { text: 'x', conversation: 99 }, /answered 404/],
      ['kill', { text: 'x' }, /Write a text/],
      ['scan', { text: 'x' }, /linked already/],
      ['quote', { text: 'x' }, /no answer yet/],
    ]
    for (const [action, fields, sentence] of refused) {
      const response = await post(action, fields)
      assert.equal(response.status, 409, action)
      assert.match(await response.text(), sentence)
    }
    const page = await fetch(url)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'self'/)
    assert.equal((await snapshotOf(url)).tally.in.sent, 1, 'only the greeting was written')
  })

  test('refuses arguments that it does not know', async () => {
    const { code, errors } = await CliProcess.run(program, ['--port', 'high'])
    assert.equal(code, 1)
    assert.match(errors, /--port takes a whole number/)
  })

  test('says in one sentence that a port is taken', async () => {
    await using own = await ownPlace()
    await using demo = await openDemo(own.place)
    const { port } = new URL(demo.url)
    const { code, errors } = await CliProcess.run(program, ['--port', port], { TMPDIR: own.place })
    assert.equal(code, 1)
    assert.equal(errors, `The page cannot use port ${port}: leave --port out, or name another one.\n`)
  })
})

test('the page has the same words in every language', async () => {
  // A variable: the type checker of this folder reads no JavaScript.
  const file = new URL('../../demo/page/texts.js', import.meta.url).href
  const { texts } = (await import(file)) as { texts: Record<string, Record<string, string>> }
  const [first, ...others] = Object.values(texts).map((each) => Object.keys(each))
  for (const keys of others) assert.deepEqual(keys, first)
})
