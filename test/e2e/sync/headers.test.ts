// The headers of earlier group messages follow the names of their senders, in the database of Chatwoot.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { ChatwootTables } from '../../harness/chatwoot-tables.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { counted, knowAddressBook } from './harness/named-contacts.ts'

const phone = '5511988887777'

type Stage = { world: World; tables: ChatwootTables; maria: SimPerson; carlos: SimPerson; group: SimGroup }

async function withStage(environment: Record<string, string>, play: (stage: Stage) => Promise<void>): Promise<void> {
  await using tables = await ChatwootTables.open()
  await using world = await World.open({ environment: { DOWNSTREAM_DB_URL: tables.url, ...environment } })
  const maria = world.network.person({ phone, pushName: 'Maria' })
  const carlos = world.network.person({ phone: '5511966665555', pushName: 'Carlos' })
  const group = world.network.group('Team', maria, [carlos, world.phone])
  await play({ world, tables, maria, carlos, group })
}

/** The messages arrive at the helpdesk, and its database has them. */
async function posted({ world, tables }: Stage, ...sent: readonly { id: string }[]): Promise<void> {
  for (const each of sent) await world.arrived(each)
  await world.drained()
  await tables.follow(world.helpdesk)
}

/** Maria has another name, which her next message tells. */
async function rename({ world, maria, group }: Stage, name: string): Promise<void> {
  maria.user.pushName = name
  await world.arrived(maria.text(group, `now I am ${name}`))
}

async function reads({ tables }: Stage, expected: readonly string[]): Promise<void> {
  let seen: unknown
  const holds = async () => JSON.stringify((seen = await tables.contents())) === JSON.stringify(expected)
  await waitUntil('the headers are rewritten', holds, { instead: () => seen })
}

describe('headers of earlier messages', { skip: withoutPostgres, concurrency: 3 }, () => {
  test('follow the name of the sender; other messages and changed texts stay', async () => {
    await withStage({}, async (stage) => {
      const { world, tables, maria, carlos, group } = stage
      await posted(stage, maria.text(group, 'one'), carlos.text(group, 'two'), world.phone.text(group, 'three'))
      await posted(stage, maria.text(group, 'four'), maria.text(world.phone, 'only to you'))
      await tables.admin.query("UPDATE messages SET content = 'deleted' WHERE content LIKE '%four'")
      await rename(stage, 'Maria Silva')
      await reads(stage, [
        '`+5511988887777 · ~Maria Silva`\n\none',
        '`+5511966665555 · ~Carlos`\n\ntwo',
        'three',
        'deleted',
        'only to you',
      ])
      await counted(world, { ok: 1 })
      const shown = (await tables.rows()).map((row) => row.processed_message_content)
      assert.equal(shown[0], '`+5511988887777 · ~Maria Silva`\n\none')
    })
  })

  test('lose the tilde when the sender is saved, and follow further names', async () => {
    await withStage({}, async (stage) => {
      const { world, maria, group } = stage
      await knowAddressBook(world)
      await posted(stage, maria.text(group, 'one'))
      world.phone.saveContact(maria, 'Maria')
      await reads(stage, ['`+5511988887777 · Maria`\n\none'])
      world.phone.saveContact(maria, 'Aunt `M`')
      await reads(stage, ['`+5511988887777 · Aunt  M `\n\none'])
      await counted(world, { skip_fullsync: 1, ok: 2 })
    })
  })

  test('a reaction gets the new header too', async () => {
    await withStage({}, async (stage) => {
      const { maria, group } = stage
      const sent = maria.text(group, 'one')
      await posted(stage, sent)
      await posted(stage, maria.react(sent, '👍'))
      await rename(stage, 'Mary')
      await reads(stage, ['`+5511988887777 · ~Mary`\n\none', '`+5511988887777 · ~Mary`\nreacted with 👍'])
    })
  })

  test('only the newest messages of a sender are rewritten, as many as configured', async () => {
    await withStage({ SERVICE_RETROACTIVE_CAP_PER_SENDER: '2' }, async (stage) => {
      const { maria, group } = stage
      await posted(stage, ...['one', 'two', 'three', 'four'].map((text) => maria.text(group, text)))
      await rename(stage, 'Mary')
      const head = (name: string, text: string) => `\`+5511988887777 · ~${name}\`\n\n${text}`
      // The message that tells the new name is the newest. It may be counted already or not.
      let seen: (string | null)[] = []
      await waitUntil('a header is rewritten', async () => {
        seen = await stage.tables.contents()
        return seen.includes(head('Mary', 'four'))
      })
      assert.deepEqual(seen.slice(0, 2), [head('Maria', 'one'), head('Maria', 'two')])
    })
  })

  for (const persist of ['true', 'false'] as const) {
    test(`with SERVICE_RETROACTIVE_PERSIST=${persist} a restart ${persist === 'true' ? 'keeps' : 'forgets'} them`, async () => {
      await withStage({ SERVICE_RETROACTIVE_PERSIST: persist }, async (stage) => {
        const { world, maria, group } = stage
        await posted(stage, maria.text(group, 'one'))
        await rename(stage, 'Mary')
        await reads(stage, ['`+5511988887777 · ~Mary`\n\none'])
        await counted(world, { ok: 1 })
        await world.restart()
        await rename(stage, 'Marie')
        await counted(world, persist === 'true' ? { ok: 1 } : { no_contact: 1 })
        await reads(stage, [`\`+5511988887777 · ~${persist === 'true' ? 'Marie' : 'Mary'}\`\n\none`])
      })
    })
  }

  test('a database that is away is counted, disturbs nothing, and is made good by the next name', async () => {
    await withStage({}, async (stage) => {
      const { world, tables, maria, group } = stage
      await posted(stage, maria.text(group, 'one'))
      await tables.admin.query('ALTER TABLE messages RENAME TO hidden')
      await rename(stage, 'Mary')
      await counted(world, { ds_error: 1 })
      assert.equal((await world.health()).status, 'ok')
      await tables.admin.query('ALTER TABLE hidden RENAME TO messages')
      await rename(stage, 'Marie')
      await reads(stage, ['`+5511988887777 · ~Marie`\n\none'])
    })
  })

  test('a deleted instance has no tracked headers any more', async () => {
    await withStage({}, async (stage) => {
      const { world, maria, group } = stage
      await posted(stage, maria.text(group, 'one'))
      const { database } = world.service
      const tracked = async () =>
        (await database.read(database.query.selectFrom('message_map').select('header'))).map(({ header }) => header)
      assert.deepEqual(await tracked(), ['`+5511988887777 · ~Maria`'])
      assert.equal((await world.service.request('DELETE', '/api/instances/n0')).status, 200)
      await waitUntil('the history is gone', async () => (await tracked()).length === 0)
    })
  })
})

test('with SERVICE_RETROACTIVE_NAME_UPDATE=false no header is kept', async () => {
  await using world = await World.open({ environment: { SERVICE_RETROACTIVE_NAME_UPDATE: 'false' } })
  const maria = world.network.person({ phone, pushName: 'Maria' })
  await world.arrived(maria.text(world.network.group('Team', maria, [world.phone]), 'one'))
  await world.drained()
  const { database } = world.service
  const rows = await database.read(database.query.selectFrom('message_map').select(['message_id', 'header']))
  assert.deepEqual(
    rows.map(({ header }) => header),
    [null],
  )
})
