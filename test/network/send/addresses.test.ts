// Which address a message goes to, and what happens when the network refuses the address.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { allChildren, child, children, stanza } from '../../../sim/network/wire/stanza.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { failure } from '../harness/send-failure.ts'

type Options = Parameters<typeof Bed.open>[0]

async function stage(isMigrated: boolean | undefined, options: Options = {}) {
  const bed = await Bed.open({ ...options, sim: { ...(isMigrated !== undefined && { isMigrated }) } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const line = await bed.online('s')
  let count = 0
  const say = async (to: string, text: string) => {
    count += 1
    await line.session.send(to, plain(text), `3EB000000000000${count}`)
  }
  return {
    bed,
    phone,
    bob,
    eve,
    line,
    session: line.session,
    say,
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  }
}

/** The addresses of the messages that left, in order. */
function left(bed: Bed): string[] {
  return frames(bed).map(({ attrs }) => attrs.to ?? '')
}

function frames({ sim }: Bed) {
  const stanzas = sim.log.find({ tag: 'message' }).filter(({ direction }) => direction === 'in')
  return stanzas.map(({ node }) => node).filter(({ attrs }) => attrs.category !== 'peer')
}

function textsOf(person: SimPerson): (string | undefined)[] {
  return person.messages.entries.map(({ message }) => textOfMessage(message))
}

const asks = ({ sim }: Bed, jid: string) =>
  sim.log.find({ tag: 'iq' }).filter(({ direction, node }) => {
    const query = direction === 'in' ? child(node, 'usync') : undefined
    return children(child(query, 'list'), 'user').some(({ attrs }) => attrs.jid === jid)
  })

test('463 to the phone number of a stranger: the LID is tried under the same id, and the account is known to be migrated', async () => {
  await using set = await stage(true)
  const { bed, bob, eve, say } = set
  await say(bob.user.pnJid, 'first')
  await say(bob.user.pnJid, 'second')
  await say(eve.user.pnJid, 'to Eve')
  assert.deepEqual(left(bed), [bob.user.pnJid, bob.user.lidJid, bob.user.lidJid, eve.user.lidJid])
  const [refused, taken] = frames(bed)
  assert.equal(refused?.attrs.id, taken?.attrs.id)
  assert.deepEqual([textsOf(bob), textsOf(eve)], [['first', 'second'], ['to Eve']])
  assert.equal(bob.duplicates + eve.duplicates + bob.undecryptable.length + eve.undecryptable.length, 0)
})

test('a message to a LID names the phone number of the recipient, one to a phone number the LID', async () => {
  for (const isMigrated of [true, false]) {
    await using set = await stage(isMigrated)
    const { bed, bob, phone, say } = set
    await bed.event(bob.text(phone, 'hello').id)
    await say(bob.user.pnJid, 'hi')
    const { pnJid, lidJid } = bob.user
    const named = isMigrated ? { to: lidJid, peer_recipient_pn: pnJid } : { to: pnJid, peer_recipient_lid: lidJid }
    const { to, peer_recipient_pn, peer_recipient_lid } = frames(bed)[0]?.attrs ?? {}
    assert.deepEqual(
      { to, peer_recipient_pn, peer_recipient_lid },
      { peer_recipient_pn: undefined, peer_recipient_lid: undefined, ...named },
    )
  }
})

test('a person who cannot open a message to the LID asks for it and gets it', async () => {
  await using set = await stage(true)
  const { bed, bob, phone, say } = set
  await bed.event(bob.text(phone, 'hello').id)
  await say(bob.user.pnJid, 'first')
  bob.reinstall()
  await say(bob.user.pnJid, 'second')
  await bob.messages.waitFor('the second', ({ message }) => textOfMessage(message) === 'second')
  assert.ok(left(bed).every((to) => to.startsWith(bob.user.lid)))
  assert.deepEqual(textsOf(bob), ['first', 'second'])
})

test('400 to a LID: the phone number is tried under the same id, and later messages go there at once', async () => {
  await using set = await stage(false)
  const { bed, bob, phone, say } = set
  await bed.event(bob.text(phone, 'hello').id)
  await say(bob.user.lidJid, 'one')
  await say(bob.user.lidJid, 'two')
  assert.deepEqual(left(bed), [bob.user.lidJid, bob.user.pnJid, bob.user.pnJid])
  assert.deepEqual(textsOf(bob), ['one', 'two'])
})

describe('the account is known to be migrated', () => {
  test('when a person with a known number writes to its LID', async () => {
    await using set = await stage(true)
    const { bed, bob, eve, phone, say } = set
    await bed.event(bob.text(phone, 'hello').id)
    await say(eve.user.pnJid, 'to Eve')
    assert.deepEqual(left(bed), [eve.user.lidJid])
  })

  test('when its phone says that it migrates, also after a restart', async () => {
    await using set = await stage(false)
    const { bed, bob, eve, phone, say, line } = set
    await say(bob.user.pnJid, 'before')
    phone.migrate([bob, eve])
    await waitUntil('the LIDs are known', () => bed.pairs.some(({ lid }) => lid === eve.user.lid))
    await waitUntil('the phone’s message is confirmed', () => phone.companion.books.size === 0)
    await line.session.close()
    await bed.network.release('s')
    const { session } = await bed.online('s')
    await session.send(eve.user.pnJid, plain('after'), '3EB0000000000009')
    assert.deepEqual(left(bed), [bob.user.pnJid, eve.user.lidJid])
    assert.deepEqual(textsOf(eve), ['after'])
  })

  test('when it was paired as such', async () => {
    await using bed = await Bed.open({ sim: { isMigrated: true } })
    const phone = bed.sim.account({ phone: '5511999990001' })
    const pairing = await bed.dial('s')
    await phone.scan(await pairing.qr())
    await pairing.closing()
    const { session } = await bed.online('s')
    const bob = bed.sim.person({ phone: '5511888880001' })
    await session.send(bob.user.pnJid, plain('first'), '3EB0000000000001')
    assert.deepEqual(left(bed), [bob.user.lidJid])
  })
})

test('a person who hides the number does not make the account migrated', async () => {
  await using set = await stage(false)
  const { bed, eve, phone, say } = set
  const hidden = bed.sim.person({ phone: '5511888880003', hidesPhone: true })
  await bed.event(hidden.text(phone, 'hello', { addressing: 'lid' }).id)
  await say(hidden.user.lidJid, 'answer')
  await say(eve.user.pnJid, 'to Eve')
  assert.deepEqual(left(bed), [hidden.user.lidJid, eve.user.pnJid])
})

test('a second refusal is final: 463 at both addresses leaves after two frames', async () => {
  await using set = await stage(undefined)
  const { bed, bob, session } = set
  bed.sim.fault({ kind: 'ack_error', code: 463, times: Infinity })
  const error = await failure(session.send(bob.user.pnJid, plain('no'), '3EB01'))
  assert.deepEqual([error.outcome, error.code], ['refused', 463])
  assert.deepEqual(left(bed), [bob.user.pnJid, bob.user.lidJid])
  bed.sim.clearFaults()
  await session.send(bob.user.pnJid, plain('yes'), '3EB02')
  assert.equal(left(bed)[2], bob.user.pnJid, 'nothing was learnt from two refusals')
})

test('463, and nothing leaves for the other address: the caller hears of the refusal', async () => {
  await using set = await stage(undefined)
  const { bed, bob, session } = set
  await session.send(bob.user.pnJid, plain('warm up'), '3EB00')
  bed.sim.fault({ kind: 'ack_error', code: 463 })
  bed.sim.fault({ kind: 'query_error', query: 'usync get usync', code: 500, times: Infinity })
  const error = await failure(session.send(bob.user.pnJid, plain('no'), '3EB01'))
  assert.deepEqual([error.outcome, error.code], ['refused', 463])
  assert.deepEqual(left(bed), [bob.user.pnJid, bob.user.pnJid])
})

test('463, and no answer for the other address: the outcome is unknown', async () => {
  await using set = await stage(undefined)
  const { bed, bob, session } = set
  bed.sim.fault({ kind: 'ack_error', code: 463 })
  bed.sim.fault({ kind: 'drop_on', tag: 'message', nth: 2 })
  const error = await failure(session.send(bob.user.pnJid, plain('no'), '3EB01'))
  assert.equal(error.outcome, 'unknown')
})

for (const [code, kind] of [
  [479, 'pnJid'],
  [400, 'lidJid'],
] as const) {
  test(`${code}: the devices are asked for again and the message is sent again under its id, once`, async () => {
    await using set = await stage(undefined)
    const { bed, bob, session } = set
    // The number of this LID is not known, so there is no other address.
    const to = bob.user[kind]
    await session.send(to, plain('warm up'), '3EB00')
    const before = asks(bed, to).length
    bed.sim.fault({ kind: 'ack_error', code })
    await session.send(to, plain('again'), '3EB01')
    assert.ok(asks(bed, to).length > before, 'the devices were asked for')
    bed.sim.fault({ kind: 'ack_error', code, times: 2 })
    const error = await failure(session.send(to, plain('no'), '3EB02'))
    assert.deepEqual([error.outcome, error.code], ['refused', code])
    assert.deepEqual(
      frames(bed).map(({ attrs }) => attrs.id),
      ['3EB00', '3EB01', '3EB01', '3EB02', '3EB02'],
    )
    assert.deepEqual(textsOf(bob), ['warm up', 'again'])
  })
}

test('475: final at once, with a reason that names the limit', async () => {
  await using set = await stage(undefined)
  const { bed, bob, session } = set
  bed.sim.fault({ kind: 'ack_error', code: 475 })
  const error = await failure(session.send(bob.user.pnJid, plain('no'), '3EB01'))
  assert.deepEqual([error.outcome, error.code], ['refused', 475])
  assert.match(error.message, /new chats/)
  assert.equal(frames(bed).length, 1)
})

test('421: a group that has moved to LIDs is asked about again, and the message arrives once', async () => {
  await using set = await stage(undefined)
  const { bed, bob, eve, phone, session } = set
  const group = bed.sim.group('Team', bob, [phone, eve], 'pn')
  await session.send(group.jid, plain('warm up'), '3EB00')
  await session.send(group.jid, plain('before'), '3EB01')
  group.addressing = 'lid'
  await session.send(group.jid, plain('after'), '3EB02')
  await eve.messages.waitFor('the second', (one) => one.id === '3EB02')
  const modes = frames(bed).map(({ attrs }) => [attrs.id, attrs.addressing_mode])
  assert.deepEqual(modes, [
    ['3EB00', 'pn'],
    ['3EB01', 'pn'],
    ['3EB02', 'pn'],
    ['3EB02', 'lid'],
  ])
  for (const member of [bob, eve]) {
    assert.deepEqual(textsOf(member), ['warm up', 'before', 'after'])
    assert.equal(member.undecryptable.length + member.duplicates, 0)
  }
})

test('an acknowledgement with another addressing mode: the group is asked about before its next message', async () => {
  await using set = await stage(undefined)
  const { bed, bob, phone, session } = set
  const group = bed.sim.group('Team', bob, [phone], 'pn')
  await session.send(group.jid, plain('warm up'), '3EB00')
  bed.sim.fault({ kind: 'ack_hint', addressingMode: 'lid' })
  await session.send(group.jid, plain('before'), '3EB01')
  group.addressing = 'lid'
  await session.send(group.jid, plain('after'), '3EB02')
  assert.deepEqual(
    frames(bed).map(({ attrs }) => attrs.addressing_mode),
    ['pn', 'pn', 'lid'],
  )
})

test('refresh_lid: the LID of the recipient is asked for and kept', async () => {
  await using set = await stage(undefined)
  const { bed, bob, say } = set
  await say(bob.user.pnJid, 'before')
  const changed = '299999999999999'
  bed.sim.router.override('usync get usync', ({ content }) => {
    const asked = allChildren(child(content, 'query') ?? stanza('query')).map(({ tag }) => tag)
    if (asked.join(' ') !== 'lid') return null
    const user = stanza('user', { jid: bob.user.pnJid }, [stanza('lid', { val: `${changed}@lid` })])
    return [stanza('usync', {}, [stanza('list', {}, [user])])]
  })
  bed.sim.fault({ kind: 'ack_hint', refreshLid: true })
  await say(bob.user.pnJid, 'refresh')
  await waitUntil('the new LID is known', () => bed.pairs.some(({ lid }) => lid === changed))
  const stored = async () => bed.database.read(bed.database.query.selectFrom('session_keys').select('key_id'))
  await waitUntil('the new LID is stored', async () =>
    (await stored()).some(({ key_id }) => key_id === `${changed}_reverse`),
  )
})
