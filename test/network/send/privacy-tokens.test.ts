// Messages carry a privacy token: the one that the recipient gave, or one that is made from the salt of the account.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { iqKey } from '../../../sim/network/server/iq-router.ts'
import { bytesOf, child } from '../../../sim/network/wire/stanza.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import type { Line } from '../harness/line.ts'
import { holdOf } from '../../harness/holds.ts'

/** The tokens of the message with this id, as the server got them. */
function tokensOf(bed: Bed, id: string): { tctoken: string | undefined; cstoken: string | undefined } {
  const sent = bed.sim.log.find({ tag: 'message' }).find((one) => one.direction === 'in' && one.attrs['id'] === id)
  const token = (tag: string) => bytesOf(child(sent?.node, tag))?.toString('hex')
  return { tctoken: token('tctoken'), cstoken: token('cstoken') }
}

async function sendText(line: Line, chat: string): Promise<string> {
  const id = line.session.newMessageId()
  await line.session.send(chat, plain('hello'), id)
  return id
}

function expectedToken(salt: Buffer, lidJid: string): string {
  return createHmac('sha256', salt).update(lidJid).digest('hex')
}

/** Resolves when the service has stored what the phone changed. */
async function saltStored(bed: Bed, isThere: boolean): Promise<void> {
  const read = () => bed.store.load('s', 'tctoken', ['__nct_salt'])
  await waitUntil('the salt is stored', async () => (await read()).length === (isThere ? 1 : 0))
}

async function pair(bed: Bed): Promise<{ phone: SimPhone; line: Line }> {
  const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
  const pairing = await bed.dial('s')
  await phone.scan(await pairing.qr())
  await pairing.closing()
  return { phone, line: await bed.online('s') }
}

for (const engine of drawnEngines(import.meta.url)) {
  test(`after linking, a first message carries a token made from the salt in the history, on ${engine}`, async () => {
    await using bed = await Bed.open({ engine })
    const { phone, line } = await pair(bed)
    const bob = bed.sim.person({ phone: '5511888880001' })
    const eve = bed.sim.person({ phone: '5511888880002' })
    await saltStored(bed, true)
    bed.sim.fault({ kind: 'token_required', times: Infinity })
    const { nctSalt } = phone.user
    assert.ok(nctSalt)
    const byPhone = await sendText(line, bob.user.pnJid)
    assert.deepEqual(tokensOf(bed, byPhone), {
      tctoken: undefined,
      cstoken: expectedToken(nctSalt, bob.user.lidJid),
    })
    const byLid = await sendText(line, eve.user.lidJid)
    assert.equal(tokensOf(bed, byLid).cstoken, expectedToken(nctSalt, eve.user.lidJid))
  })
}

test('a salt that the phone changes counts at once and survives a restart, and a removed salt is used no more', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const salt = Buffer.alloc(32, 9)
  await bed.online('s')
  phone.changeSalt(salt)
  await saltStored(bed, true)
  await bed.network.release('s')
  const line = await bed.online('s')
  const first = await sendText(line, bob.user.pnJid)
  assert.equal(tokensOf(bed, first).cstoken, expectedToken(salt, bob.user.lidJid))
  phone.changeSalt(undefined)
  await saltStored(bed, false)
  const second = await sendText(line, bob.user.pnJid)
  assert.deepEqual(tokensOf(bed, second), { tctoken: undefined, cstoken: undefined })
})

test('an account that was linked without a salt asks for it once', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const salt = Buffer.alloc(32, 9)
  await bed.online('s')
  phone.changeSalt(salt)
  await saltStored(bed, true)
  await bed.network.release('s')
  // The app state is known, and the salt in it is not, as in a database of an earlier version.
  await bed.store.save(holdOf('a', bed.epoch), 's', [{ kind: 'tctoken', id: '__nct_salt', value: null }])
  const line = await bed.online('s')
  await saltStored(bed, true)
  const id = await sendText(line, bob.user.pnJid)
  assert.equal(tokensOf(bed, id).cstoken, expectedToken(salt, bob.user.lidJid))
  const asked = () => bed.store.load('s', 'tctoken', ['__nct_salt_asked'])
  await waitUntil('the question is noted', async () => (await asked()).length === 1)
})

test('an account whose question for the salt fails asks again at its next connection', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  await bed.online('s')
  phone.changeSalt(Buffer.alloc(32, 9))
  await saltStored(bed, true)
  await bed.network.release('s')
  await bed.store.save(holdOf('a', bed.epoch), 's', [{ kind: 'tctoken', id: '__nct_salt', value: null }])
  const question = 'w:sync:app:state set sync'
  bed.sim.fault({ kind: 'query_error', query: question, code: 503, times: 1 })
  const before = bed.sim.log.find({ tag: 'iq' }).length
  const answers = () =>
    bed.sim.log
      .find({ tag: 'iq' })
      .slice(before)
      .filter(({ attrs }) => attrs['type'] === 'error')
  await bed.online('s')
  await waitUntil('the question has failed', () => answers().length === 1)
  await bed.network.release('s')
  await bed.online('s')
  await saltStored(bed, true)
})

test('the token that a person gave is sent instead of one of our own', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  phone.changeSalt(Buffer.alloc(32, 9))
  await saltStored(bed, true)
  bob.trust(phone)
  await waitUntil('the token is stored', async () => {
    const [stored] = await bed.store.load('s', 'tctoken', [bob.user.lidJid])
    return stored !== undefined
  })
  const id = await sendText(line, bob.user.pnJid)
  const { tctoken, cstoken } = tokensOf(bed, id)
  assert.equal(tctoken?.length, 32)
  assert.equal(cstoken, undefined)
})

test('the message to a device that missed it carries the token too', async () => {
  await using bed = await Bed.open()
  const { line } = await pair(bed)
  const bob = bed.sim.person({ phone: '5511888880001' })
  await saltStored(bed, true)
  await sendText(line, bob.user.pnJid)
  const laptop = bob.addDevice({ isTold: false })
  const id = await sendText(line, bob.user.pnJid)
  await bob.opened.waitFor('the message on the laptop', (one) => one.id === id && one.device === laptop.id)
  const sent = bed.sim.log.find({ tag: 'message' }).filter((one) => one.direction === 'in' && one.attrs['id'] === id)
  const tokens = sent.map(({ node }) => bytesOf(child(node, 'cstoken'))?.toString('hex'))
  assert.deepEqual(tokens, [tokensOf(bed, id).cstoken, tokensOf(bed, id).cstoken])
  assert.ok(tokens[0])
})

test('the switches of the server decide whether messages carry tokens and to which address tokens are issued', async () => {
  await using bed = await Bed.open()
  bed.sim.abProps.set('10518', '0').set('14303', '1')
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  phone.changeSalt(Buffer.alloc(32, 9))
  await saltStored(bed, true)
  await bed.sim.waitForStanza('iq', ({ node }) => iqKey(node) === 'abt get props')
  const id = await sendText(line, bob.user.pnJid)
  assert.deepEqual(tokensOf(bed, id), { tctoken: undefined, cstoken: undefined })
  const issued = await bed.sim.waitForStanza('iq', ({ node }) => iqKey(node) === 'privacy set tokens')
  assert.equal(child(child(issued.node, 'tokens'), 'token')?.attrs.jid, bob.user.lidJid)
})

test('a network that asks for tokens refuses a first message without one, and takes an answer without one', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  bed.sim.fault({ kind: 'token_required', times: Infinity })
  await assert.rejects(sendText(line, bob.user.pnJid), { outcome: 'refused' })
  assert.equal(bed.sim.tokens.withoutToken.length, 2, 'both addresses were tried')
  bob.text(phone, 'hi')
  await sendText(line, bob.user.pnJid)
})

test('a first text issues a token of ours, an edit or a revoke issues none', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const { session } = await bed.online('s')
  const target = { chat: bob.user.pnJid, id: '3EB000000000000001', fromMe: true, participant: null }
  await session.send(target.chat, { type: 'edit', target, text: 'better' }, '3EB000000000000002')
  await session.send(target.chat, { type: 'revoke', target }, '3EB000000000000003')
  await session.send(eve.user.pnJid, plain('hello'), '3EB000000000000004')
  const isIssued = ({ node }: { node: Parameters<typeof iqKey>[0] }) => iqKey(node) === 'privacy set tokens'
  await bed.sim.waitForStanza('iq', isIssued)
  await eve.side.waitFor('the token', ({ attrs }) => attrs.type === 'privacy_token')
  assert.equal(bed.sim.log.find({ tag: 'iq' }).filter(isIssued).length, 1)
  assert.deepEqual(bob.side.entries, [])
})
