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

test('a person who writes by LID gets a picture, and a picture that is removed on the phone is removed', async () => {
  await using world = await Stage.open()
  const ana = world.network.person({ phone: '5511977776666', lid: '300000000000002', hidesPhone: true })
  world.network.setPicture(ana, jpeg('ana'))
  await world.arrived(ana.text(world.phone, 'hello'))
  await world.shows(jpeg('ana'), '300000000000002@lid')
  await world.counted('ok', 1)
})

test('a removed picture disappears, and a person without one is counted as a miss', async () => {
  await using world = await Stage.open()
  const maria = world.maria()
  world.network.setPicture(maria, jpeg('maria'))
  await world.arrived(maria.text(world.phone, 'hello'))
  await world.shows(jpeg('maria'))
  world.network.setPicture(maria, undefined)
  await world.shows(null)
  await world.counted('wa_miss', 1)
})
