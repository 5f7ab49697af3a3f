// Profile pictures at the helpdesk: of people and groups, on first sight, after a change, and on request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IqError } from '../../../sim/network/server/iq-router.ts'
import type { SeenContact } from '../../../sim/helpdesk/snapshots.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const question = 'w:profile:picture get picture'

/** A file that the helpdesk takes for a JPEG. */
function jpeg(text: string): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.from(text)])
}

class Stage extends World {
  static override async open(options: WorldOptions = {}): Promise<Stage> {
    const world = new Stage(await World.start(options))
    return world.begin(() => world.allReady())
  }

  get desk(): DeskClient {
    return new DeskClient(this.helpdesk)
  }

  maria(): SimPerson {
    return this.network.person({ phone: '5511988887777', lid: '300000000000001', pushName: 'Maria' })
  }

  contact(identifier = '5511988887777@s.whatsapp.net'): SeenContact | undefined {
    return this.helpdesk.see.contacts().find((each) => each.identifier === identifier)
  }

  async shows(picture: Buffer | null, identifier?: string): Promise<void> {
    const text = (bytes: Uint8Array | null | undefined) => (bytes ? Buffer.from(bytes).toString('latin1') : null)
    await waitUntil(
      'the contact has the right picture',
      () => {
        const contact = this.contact(identifier)
        return contact !== undefined && text(contact.avatar) === text(picture)
      },
      { instead: () => text(this.contact(identifier)?.avatar) },
    )
  }

  async count(result: string): Promise<number> {
    const { text } = await this.service.get('/metrics')
    const line = `service_realtime_events_total{feature="avatar",result="${result}",instance="n0"} `
    const found = text.split('\n').find((each) => each.startsWith(line))
    return Number(found?.slice(line.length) ?? 0)
  }

  async counted(result: string, times: number): Promise<void> {
    let seen = -1
    const holds = async () => (seen = await this.count(result)) === times
    await waitUntil(`${result} is counted ${times} times`, holds, { instead: () => seen })
  }

  async agentSets(picture: Buffer): Promise<void> {
    const form = new FormData()
    form.append('avatar', new Blob([new Uint8Array(picture)], { type: 'image/jpeg' }), 'portrait.jpg')
    const { status } = await this.desk.send('PATCH', `/contacts/${this.contact()?.id}`, form)
    assert.equal(status, 200)
  }

  resync(name = 'n0') {
    return this.service.request('POST', `/api/instances/${name}/avatars/resync`)
  }
}

test('the first message of a person and of a group brings their pictures, and a change replaces them', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  const group = world.network.group('Team', maria, [world.phone])
  world.network.setPicture(maria, jpeg('maria 1'))
  world.network.setPicture(group, jpeg('team'))
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.shows(jpeg('maria 1'))
  await world.arrived(maria.text(group, 'hello all'))
  await world.shows(jpeg('team'), group.jid)
  await world.counted('ok', 2)
  world.network.setPicture(maria, jpeg('maria 2'))
  await world.shows(jpeg('maria 2'))
  world.network.setPicture(group, jpeg('team 2'))
  await world.shows(jpeg('team 2'), group.jid)
  await world.counted('ok', 4)
})

test('a person who writes under an anonymous id gets a picture too', async () => {
  await using world = await Stage.open()
  const ana = world.network.person({ phone: '5511977776666', lid: '300000000000002', hidesPhone: true })
  world.network.setPicture(ana, jpeg('ana'))
  await world.arrived(ana.text(world.phone, 'hello', { addressing: 'lid' }))
  await world.shows(jpeg('ana'), '300000000000002@lid')
  await world.counted('ok', 1)
})

test('a removed picture disappears, and a person without one is counted as a miss', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('maria'))
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.counted('ok', 1)
  world.network.setPicture(maria, undefined)
  await world.shows(null)
  await world.counted('wa_miss', 1)
})

test('a person without a picture and one who hides it are misses, and the picture that is there stays', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.counted('wa_miss', 1)
  world.network.setPicture(maria, jpeg('maria'))
  await world.shows(jpeg('maria'))
  world.network.router.override(question, () => {
    throw new IqError(401, 'not-authorized')
  })
  assert.equal((await world.resync()).status, 200)
  await world.counted('wa_miss', 2)
  await world.shows(jpeg('maria'))
})

test('messages within the refresh time are throttled, also after a restart, and a resync is not', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('before'))
  await world.arrived(maria.text(world.phone, 'one'))
  await world.counted('ok', 1)
  // No notification tells of this picture.
  maria.user.picture = { id: '77', jpeg: jpeg('after') }
  await world.arrived(maria.text(world.phone, 'two'))
  await world.counted('throttled', 1)
  await world.restart()
  await world.arrived(maria.text(world.phone, 'three'))
  await world.counted('throttled', 1)
  await world.shows(jpeg('before'))
  const { status, body } = await world.resync()
  assert.deepEqual([status, body], [200, { instance: 'n0', scanned: 1, skipped: 0, queued: 1, pages: 1 }])
  await world.shows(jpeg('after'))
  await world.counted('ok', 1)
})

test('a picture that an agent set stays, through a change and a resync, until the agent removes it', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('maria 1'))
  await world.arrived(maria.text(world.phone, 'hello'))
  // The picture is ours when its upload is noted, a moment after it is shown.
  await world.counted('ok', 1)
  await world.agentSets(jpeg('portrait'))
  world.network.setPicture(maria, jpeg('maria 2'))
  await world.counted('ok', 2)
  await world.resync()
  await world.counted('ok', 3)
  world.network.setPicture(maria, undefined)
  await world.counted('wa_miss', 1)
  await world.shows(jpeg('portrait'))
  world.network.setPicture(maria, jpeg('maria 3'))
  await world.counted('ok', 4)
  await world.shows(jpeg('portrait'))
  await world.desk.delete(`/contacts/${world.contact()?.id}/avatar`)
  await world.resync()
  await world.shows(jpeg('maria 3'))
})

test('an upload whose answer is lost is recognised as ours: the next picture replaces it', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('maria 1'))
  await world.helpdesk.fault({ kind: 'cut', afterCommit: true, method: 'PATCH', path: /contacts/, times: 1 })
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.counted('ds_error', 1)
  await world.shows(jpeg('maria 1'))
  world.network.setPicture(maria, jpeg('maria 2'))
  await world.shows(jpeg('maria 2'))
  await world.counted('ok', 1)
})

test('failures of the network and of the helpdesk are counted, and messages arrive meanwhile', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('maria'))
  const restore = world.network.router.override(question, () => {
    throw new IqError(500, 'internal-server-error')
  })
  await world.arrived(maria.text(world.phone, 'one'))
  await world.counted('wa_error', 1)
  restore()
  await world.helpdesk.fault({ kind: 'status', status: 500, method: 'PATCH', path: /contacts/, times: 8 })
  for (let round = 1; round <= 6; round++) {
    await world.resync()
    await world.counted('ds_error', round)
  }
  await world.arrived(maria.text(world.phone, 'two'))
  assert.deepEqual((await world.health()).checks.destinations_held, [])
  await world.shows(null)
})

test('a contact that was deleted at the helpdesk is a failure of the helpdesk', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.counted('wa_miss', 1)
  await world.desk.delete(`/contacts/${world.contact()?.id}`)
  await waitUntil('the contact is gone', () => world.contact() === undefined)
  world.network.setPicture(maria, jpeg('maria'))
  await world.counted('ds_error', 1)
})

test('a change of a person without a contact is not counted', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('stranger'))
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.shows(jpeg('stranger'))
  await world.counted('ok', 1)
  assert.doesNotMatch((await world.service.get('/metrics')).text, /feature="avatar",result="(?!ok)/)
})

test('with SERVICE_AVATAR_SYNC=false nothing is asked, uploaded or counted', async () => {
  await using world = await Stage.open({ environment: { SERVICE_AVATAR_SYNC: 'false' } })
  const asked: string[] = []
  world.network.router.override(question, ({ iq }) => {
    asked.push(iq.attrs['target'] ?? '')
    return null
  })
  const maria = world.maria()
  await world.arrived(maria.text(world.phone, 'hello'))
  world.network.setPicture(maria, jpeg('maria'))
  await world.arrived(maria.text(world.phone, 'again'))
  const { status, body } = await world.resync()
  assert.deepEqual([status, (body as { error_code: string }).error_code], [409, 'SERVICE_AVATARS_DISABLED'])
  assert.deepEqual(asked, [])
  assert.doesNotMatch((await world.service.get('/metrics')).text, /feature="avatar"/)
})

test('a resync of an unknown, unready or cut-off instance is refused with the reason', async () => {
  await using world = await Stage.open()
  const codeOf = async (name?: string) => {
    const { status, body } = await world.resync(name)
    return [status, (body as { error_code?: string }).error_code]
  }
  assert.deepEqual(await codeOf('nowhere'), [404, 'SERVICE_INSTANCE_NOT_FOUND'])
  const bare = await world.service.request('POST', '/api/instances/n0/avatars/resync', { token: null })
  assert.equal(bare.status, 401)
  await world.helpdesk.fault({ kind: 'status', status: 503, times: 2 })
  assert.deepEqual(await codeOf(), [500, 'SERVICE_HELPDESK_UNREACHABLE'])
  await world.command('/n0/logout')
  assert.deepEqual(await codeOf(), [409, 'SERVICE_NOT_READY'])
})

test('a resync reads 200 pages at most, skips contacts without an address, and leaves other inboxes alone', async () => {
  await using world = await Stage.open()
  const { desk } = world
  const create = (contact: object) => desk.post('/contacts', contact)
  for (let n = 0; n < 20; n++) await create({ name: `Other ${n}`, email: `other${n}@example.com` })
  await create({ name: 'Crm', inbox_id: 1, source_id: 'crm-1', identifier: 'crm-1' })
  await create({ name: 'Own', inbox_id: 1, source_id: '5511900000001', identifier: 'crm-2' })
  await create({
    name: 'Group',
    inbox_id: 1,
    source_id: 'group-120363000000000001',
    identifier: '120363000000000001@g.us',
  })
  await create({ name: 'Lid', inbox_id: 1, source_id: 'lid-300000000000009', identifier: '300000000000009@lid' })
  const small = await world.resync()
  assert.deepEqual(small.body, { instance: 'n0', scanned: 4, skipped: 1, queued: 3, pages: 2 })
  await world.counted('wa_miss', 3)
  for (let n = 0; n < 3000; n += 50) {
    const some = Array.from({ length: 50 }, (_, more) => 5_511_910_000_000 + n + more)
    await Promise.all(
      some.map((phone) =>
        create({ name: `P ${phone}`, inbox_id: 1, source_id: String(phone), phone_number: `+${phone}` }),
      ),
    )
  }
  const large = await world.resync()
  assert.deepEqual(large.body, { instance: 'n0', scanned: 3000, skipped: 0, queued: 3000, pages: 200 })
})
