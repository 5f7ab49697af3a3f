// The control API refuses senseless calls and changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ControlServer } from '../../sim/control/control-server.ts'
import { SimWorld } from '../../sim/sim-world.ts'

const ANA = '5511999990001'
const BOB = '/people/5511888880001'
const to = ANA
const media = { base64: 'aGVsbG8=' }

const REFUSED: [status: number, method: string, path: string, body?: unknown][] = [
  [400, 'POST', '/accounts', []],
  [400, 'POST', '/accounts', {}],
  [400, 'POST', '/accounts', { phone: '5511999990009', linked: 'yes' }],
  [409, 'POST', '/accounts', { phone: '+55 11' }],
  [409, 'POST', '/accounts', { phone: ANA }],
  [409, 'POST', '/accounts', { phone: '5511999990009', lid: 'a:b@c' }],
  [404, 'GET', '/accounts/5511000000000'],
  [400, 'GET', '/accounts/%E0%A4%A'],
  [400, 'POST', `/accounts/${ANA}/scan`, {}],
  [409, 'POST', `/accounts/${ANA}/scan`, { qr: 'nothing' }],
  [422, 'POST', `/accounts/${ANA}/scan`, { png_base64: 'AAAA' }],
  [404, 'POST', `/accounts/${ANA}/unlink`, { device: 7 }],
  [404, 'POST', `/accounts/${ANA}/read`, { chat: 'nobody' }],
  [404, 'POST', `/accounts/${ANA}/history`, { chat: '5511888880001', text: 'x', at: 1, from: '5511000000000' }],
  [400, 'POST', '/people', { phone: '5511888880009', devices: 0 }],
  [400, 'POST', '/people', { phone: '5511888880009', devices: 1e9 }],
  [400, 'POST', '/people', { phone: '5511888880009', picture: '???' }],
  [404, 'POST', '/people/5511000000000/send', { to, text: 'x' }],
  [400, 'POST', `${BOB}/send`, { to }],
  [404, 'POST', `${BOB}/send`, { to: 'nobody', text: 'x' }],
  [400, 'POST', `${BOB}/send`, { to, text: 'x', id: '' }],
  [400, 'POST', `${BOB}/send`, { to, text: 'x', timestamp: -1.5 }],
  [409, 'POST', `${BOB}/send`, { to, text: 'x', quote: 'unknown' }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'dance' }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'image' }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'image', media: 'aGVsbG8=' }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'image', media: { base64: '!' } }],
  [409, 'POST', `${BOB}/send`, { to, kind: 'image', media, quote: 'unknown' }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'location', latitude: 1, longitude: 2, mentions: [ANA] }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'raw', message: { conversatoin: 'x' } }],
  [400, 'POST', `${BOB}/send`, { to, kind: 'raw', message: { imageMessage: 'x' } }],
  [409, 'POST', `${BOB}/react`, { message_id: 'unknown', emoji: 'x' }],
  [400, 'GET', `${BOB}/messages?after=x`],
  [400, 'GET', `${BOB}/messages?wait_ms=-1`],
  [404, 'POST', '/groups', { subject: 'x', creator: '5511000000000', participants: [] }],
  [404, 'GET', '/groups/1@g.us'],
  [400, 'POST', '/faults', { kind: 'weather' }],
  [404, 'POST', '/faults', { kind: 'drop', account: '5511000000000' }],
  [404, 'POST', '/faults', { kind: 'ack_error', code: 463, account: '5511000000000' }],
  [400, 'POST', '/faults', { kind: 'ack_error', code: 463, times: 0 }],
  [400, 'POST', '/faults', { kind: 'reorder', count: 0 }],
  [400, 'POST', '/faults', { kind: 'delay', ms: 1e12 }],
  [400, 'POST', '/faults', { kind: 'login_failure' }],
  [404, 'PUT', '/accounts', {}],
]

test('senseless calls are refused and change nothing', async () => {
  await using world = await SimWorld.start()
  const { network } = world
  await using control = await ControlServer.start(world)
  const phone = network.account({ phone: ANA })
  network.person({ phone: '5511888880001' })
  for (const [status, method, path, body] of REFUSED) {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const response = await fetch(control.url + path, init)
    const { error } = (await response.json()) as { error?: string }
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(body)}: ${error ?? ''}`)
    assert.ok(error)
  }
  assert.equal(network.personAt('5511888880009'), undefined)
  assert.equal(network.phone('5511999990009'), undefined)
  assert.deepEqual(network.faults.list(), [])
  assert.equal(phone.messages.length, 0)
})
