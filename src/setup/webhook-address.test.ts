import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCallable, leadsTo, parseWebhookAddress, shownAddress, webhookUrlOf } from './webhook-address.ts'

test('the address is below the public URL, with its path and without what follows it', () => {
  const wanted = 'https://bridge.example/api/instances/sales/webhook'
  for (const base of ['https://bridge.example', 'https://bridge.example/', 'https://bridge.example//?a=1#b']) {
    assert.equal(webhookUrlOf(base, 'sales'), wanted)
  }
  assert.equal(webhookUrlOf('http://host:3100/wa/', 'a.b-c_d'), 'http://host:3100/wa/api/instances/a.b-c_d/webhook')
})

test('an address that was written is read again', () => {
  for (const base of ['https://bridge.example', 'http://127.0.0.1:3100/wa']) {
    const address = parseWebhookAddress(webhookUrlOf(base, 'sales'))
    assert.deepEqual(address, { base, instance: 'sales' })
    assert.ok(leadsTo(address, `${base}/`))
    assert.ok(!leadsTo(address, `${base}/more`))
  }
})

test('credentials, a query and a slash at the end do not change where an address leads', () => {
  const address = parseWebhookAddress('https://me:secret@bridge.example/api/instances/sales/webhook/?x=1')
  assert.deepEqual(address, { base: 'https://bridge.example', instance: 'sales' })
  assert.equal(
    shownAddress('https://me:secret@bridge.example/api/instances/sales/webhook?token=x'),
    'https://bridge.example/api/instances/sales/webhook',
  )
})

test('credentials of the public URL are part of the address that Chatwoot calls', () => {
  assert.equal(
    webhookUrlOf('https://me:secret@bridge.example', 'sales'),
    'https://me:secret@bridge.example/api/instances/sales/webhook',
  )
})

test('other texts name no instance', () => {
  const host = 'https://bridge.example'
  for (const text of [
    ...[
      '',
      'not a url',
      'bridge.example/api/instances/sales/webhook',
      'ftp://bridge.example/api/instances/sales/webhook',
    ],
    ...[host, `${host}/api/instances/sales`, `${host}/api/instances/sales/webhook/more`, `${host}/instances/x/webhook`],
    ...[`${host}/api/instances/bulk/webhook`, `${host}/api/instances/.a/webhook`, `${host}/api/instances/%41/webhook`],
  ]) {
    assert.equal(parseWebhookAddress(text), null, text)
  }
})

test('an address that Chatwoot cannot parse names no instance and cannot be called, although a browser repairs it', () => {
  const own = 'https://bridge.example/api/instances/sales/webhook'
  for (const text of [
    ...[`${own} `, ` ${own}`, `${own}\n`, own.replace('sales', 'sa\tles'), own.replace('//', '')],
    ...[own.replaceAll('/', '\\'), own.replace('bridge', 'brücke')],
  ]) {
    assert.deepEqual([isCallable(text), parseWebhookAddress(text)], [false, null], JSON.stringify(text))
  }
})

test('only http and https can be called', () => {
  assert.deepEqual(['http://a', 'https://a/b', '', 'a', 'ftp://a', 'javascript:1'].map(isCallable), [
    ...[true, true, false, false, false, false],
  ])
  assert.equal(shownAddress('not a url'), 'no URL')
})
