// An agent who writes "members" as a private note in the conversation of a group gets the members as a private note.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const ignored = { status: 'ignored', reason: 'private' }

/** Bob's group, with the conversation that his first message opened. */
async function open(options: WorldOptions = {}) {
  const set = new GroupWorld(await AgentWorld.open(options))
  const group = set.bobsGroup()
  const conversation = await conversationOf(set, group)
  return { set, group, conversation, [Symbol.asyncDispose]: () => set[Symbol.asyncDispose]() }
}

async function conversationOf({ world, bob }: GroupWorld<AgentWorld>, group: SimGroup): Promise<number> {
  return (await world.arrived(bob.text(group, 'hello'))).conversationId
}

/** The agent writes the note; its id, and the callback that the helpdesk made of it. */
async function writeNote({ world }: GroupWorld<AgentWorld>, conversation: number, content = 'members') {
  const id = await world.write(content, { private: true }, conversation)
  const delivery = await world.helpdesk.waitForDelivery(`note ${id}`, ({ event, body }) => {
    return event === 'message_created' && (body as unknown as { id: number }).id === id
  })
  assert.equal(delivery.status, 200, String(delivery.error))
  return { id, callback: delivery.body }
}

function answersTo({ world }: GroupWorld<AgentWorld>, note: number): SeenMessage[] {
  return world.helpdesk.messages().filter(({ sourceId }) => sourceId?.startsWith(`members-${note}-`))
}

async function answerTo(set: GroupWorld<AgentWorld>, note: number): Promise<SeenMessage> {
  return set.world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === `members-${note}-1`, 60_000)
}

test('the note lists the members with phones, names and roles, and reaches no phone', async () => {
  await using scene = await open()
  const { set, group, conversation } = scene
  const { world, bob, eve } = set
  group.change(bob.user, 'promote', eve.user)
  const shy = world.network.person({ phone: '5511888880009', lid: '200000000000009', hidesPhone: true })
  group.change(bob.user, 'add', shy.user)
  const { id, callback } = await writeNote(set, conversation, ' Members\n')
  const answer = await answerTo(set, id)
  assert.deepEqual([answer.conversationId, answer.private, answer.messageType], [conversation, true, 'outgoing'])
  const [title, blank, ...lines] = (answer.content ?? '').split('\n')
  assert.deepEqual([title, blank], ['Members of this group: 4', ''])
  assert.deepEqual(lines.slice(0, 2), ['- `+5511888880001 · ~Bob` (owner)', '- `+5511888880002` (administrator)'])
  assert.ok(lines.includes(`- \`+${world.phone.user.phone}\``), lines.join('\n'))
  assert.match(lines.join('\n'), /^- `\+55∙+09`$/m)
  // The same callback again, at once and after a restart, has the same answer and no second list.
  assert.deepEqual((await world.post(callback)).body, ignored)
  await world.restart()
  assert.deepEqual((await world.post(callback)).body, ignored)
  const { id: other } = await writeNote(set, conversation)
  await answerTo(set, other)
  await world.helpdesk.settled()
  assert.deepEqual([answersTo(set, id).length, answersTo(set, other).length], [1, 1])
  // A message that comes next comes after anything that was sent.
  await world.write('for all of you', {}, conversation)
  await world.received('for all of you', eve)
  assert.equal(eve.messages.entries.filter(({ own }) => !own).length, 2)
})

test('two callbacks of one note at the same time have one answer', async () => {
  await using scene = await open()
  const { set, conversation } = scene
  const { world } = set
  const { id, callback } = await writeNote(set, conversation)
  await Promise.all([world.post(callback), world.post(callback), world.post(callback)])
  await answerTo(set, id)
  await answerTo(set, (await writeNote(set, conversation)).id)
  await world.helpdesk.settled()
  assert.equal(answersTo(set, id).length, 1)
})

test('other notes, and the same word to a person or to the customer, ask for nothing', async () => {
  await using scene = await open()
  const { set, conversation } = scene
  const { world } = set
  const notes = [
    await writeNote(set, conversation, 'members please'),
    await writeNote(set, conversation, 'member'),
    await writeNote(set, world.conversation),
  ]
  const { callback } = await writeNote(set, conversation, 'about the members')
  const foreign = { ...(callback as object), id: 990_001, content: 'members', inbox: { id: 99 } }
  assert.deepEqual((await world.post(foreign)).body, ignored)
  const sent = await world.write('members', {}, conversation)
  await world.received('members', set.eve)
  await answerTo(set, (await writeNote(set, conversation)).id)
  await world.helpdesk.settled()
  for (const id of [...notes.map((note) => note.id), 990_001, sent]) assert.deepEqual(answersTo(set, id), [])
})

test('the note says why there is no list, in the language of the service', async () => {
  await using scene = await open({ environment: { SERVICE_LOCALE: 'es' } })
  const { set, group, conversation } = scene
  const { world, bob } = set
  const listed = await answerTo(set, (await writeNote(set, conversation)).id)
  assert.match(listed.content ?? '', /^Miembros de este grupo: 3\n\n- `\+5511888880001 · ~Bob` \(propietario\)\n/)
  group.change(bob.user, 'remove', world.phone.user)
  const removed = await answerTo(set, (await writeNote(set, conversation)).id)
  assert.match(removed.content ?? '', /^No se pueden listar los miembros: la cuenta no es miembro/)
  await world.disconnect()
  const away = await answerTo(set, (await writeNote(set, conversation)).id)
  assert.match(away.content ?? '', /^No se pueden listar los miembros: la cuenta no está conectada/)
})

test('the members of a group of 1,024 are in the note', async () => {
  await using scene = await open()
  const { set, group } = scene
  const { world, bob } = set
  const people = Array.from({ length: 1022 }, (_, n) =>
    world.network.person({ phone: `55116${String(n).padStart(8, '0')}` }),
  )
  const crowd = world.network.group('Crowd', bob, [world.phone, ...people])
  assert.notEqual(crowd.jid, group.jid)
  const conversation = await conversationOf(set, crowd)
  const { content } = await answerTo(set, (await writeNote(set, conversation)).id)
  const lines = (content ?? '').split('\n')
  assert.equal(lines[0], 'Members of this group: 1024')
  assert.equal(lines.filter((line) => line.startsWith('- ')).length, 1024)
})
