// The settings that an instance has of its own, over the API.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import { World } from '../../harness/world.ts'

const own = {
  conversation_mode: 'reopen',
  new_conversation_status: 'pending',
  ignore_jids: ['*@g.us', '5511*'],
  header_template: '**$name**',
  quote_style: 'bubble',
  reject_calls: true,
  locale: 'pt',
  sign_messages: true,
}
const none = Object.fromEntries(Object.keys(own).map((field) => [field, null]))

async function shown(world: World, name = 'a'): Promise<Record<string, unknown>> {
  const detail = (await world.service.get(`/api/instances/${name}`)).body as Record<string, unknown>
  return Object.fromEntries(Object.keys(own).map((field) => [field, detail[field]]))
}

for (const engine of engines) {
  test(`what was created and changed is there after a restart, on ${engine}`, async () => {
    await using world = await World.unlinked({ engine })
    assert.equal((await world.create({ name: 'a', ...own })).status, 201)
    await world.create({ name: 'b' })
    assert.deepEqual([await shown(world), await shown(world, 'b')], [own, none])
    await world.restartService()
    assert.deepEqual([await shown(world), await shown(world, 'b')], [own, none])
    await world.patch('a', { locale: null, sign_messages: false, ignore_jids: [], quote_style: 'text' })
    const changed = { ...own, locale: null, sign_messages: false, ignore_jids: [], quote_style: 'text' }
    assert.deepEqual(await shown(world), changed)
    await world.restartService()
    assert.deepEqual(await shown(world), changed)
    await world.patch('a', none)
    await world.restartService()
    assert.deepEqual(await shown(world), none)
  })
}

describe('the API', () => {
  test('changes what a request names, and notes it in the audit log', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a', locale: 'es-MX', quote_style: null })
    await world.patch('a', { quote_style: 'text', inbox_id: 3 })
    await world.create({ name: 'a', reject_calls: true })
    await world.patch('a', {})
    assert.deepEqual(await shown(world), { ...none, locale: 'es', quote_style: 'text', reject_calls: true })
    const { entries } = (await world.service.get('/api/audit')).body as {
      entries: { metadata: { fields?: string[] } }[]
    }
    assert.deepEqual(
      entries.flatMap(({ metadata }) => (metadata.fields ? [metadata.fields] : [])),
      [['reject_calls'], ['inbox_id', 'quote_style'], ['locale', 'quote_style']],
    )
  })

  test('shows them in every answer with details', async () => {
    await using world = await World.open()
    await world.patch('n0', { locale: 'pt' })
    const ready = (await world.service.get('/api/instances/n0/wait-ready?timeout=10')).body as { locale: string }
    const [listed] = (await world.service.get('/api/instances/bulk/status')).body as { locale: string }[]
    assert.deepEqual([ready.locale, listed?.locale], ['pt', 'pt'])
  })

  test('a deleted instance leaves no settings to the next one of its name', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a', ...own })
    await world.service.request('DELETE', '/api/instances/a')
    await world.create({ name: 'a' })
    assert.deepEqual(await shown(world), none)
  })

  test('a wrong value is refused by a sentence that names the field and what it takes, and changes nothing', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a', ...own })
    const wrong: [object, RegExp][] = [
      [{ conversation_mode: 'newest' }, /^conversation_mode must be one of: new, reopen, null$/],
      [{ conversation_mode: 1 }, /^conversation_mode must be/],
      [{ new_conversation_status: 'resolved' }, /^new_conversation_status must be one of: open, pending, null$/],
      [{ quote_style: '' }, /^quote_style must be one of: both, bubble, text, null$/],
      [{ reject_calls: 'true' }, /^reject_calls must be boolean/],
      [{ sign_messages: 1 }, /^sign_messages must be boolean/],
      [{ ignore_jids: '*@g.us' }, /^ignore_jids must be array/],
      [{ ignore_jids: [7] }, /^ignore_jids\.0 must be string/],
      [{ ignore_jids: ['a,b'] }, /^ignore_jids takes an array of jids/],
      [{ ignore_jids: ['ok', ' '] }, /^ignore_jids takes an array of jids/],
      [{ ignore_jids: Array.from({ length: 1001 }, () => 'a') }, /^ignore_jids must NOT have more than 1000 items/],
      [{ ignore_jids: ['x'.repeat(257)] }, /^ignore_jids\.0 must NOT have more than 256 characters/],
      [{ header_template: '$nmae' }, /^header_template takes text with \$phone and \$name, of at most 500 characters/],
      [{ header_template: 'x'.repeat(501) }, /^header_template must NOT have more than 500 characters/],
      [{ header_template: ' ' }, /^header_template takes text/],
      [{ header_template: { $name: 1 } }, /^header_template must be string/],
      [{ locale: 'fr' }, /^locale takes en, es or pt, also with a region such as pt-BR, or null$/],
      [{ locale: ['pt'] }, /^locale must be string/],
      [{ locale: 'x\0' }, /^locale must not contain a NUL/],
    ]
    for (const [body, sentence] of wrong) {
      assertRefused(await world.patch('a', { inbox_id: 9, ...body }), 'SERVICE_BAD_REQUEST', sentence)
      assertRefused(await world.create({ name: 'b', ...body }), 'SERVICE_BAD_REQUEST', sentence)
    }
    assert.deepEqual(await shown(world), own)
    assert.equal(((await world.service.get('/api/instances/a')).body as { inbox_id: number }).inbox_id, 0)
    assertRefused(await world.service.get('/api/instances/b'), 'SERVICE_INSTANCE_NOT_FOUND')
    assertRefused(await world.patch('b', { locale: 'pt' }), 'SERVICE_INSTANCE_NOT_FOUND')
  })

  test('the OpenAPI document describes each of them, with the variable that counts for null', async () => {
    await using world = await World.unlinked()
    const document = (await world.service.get('/static/openapi.json')).text
    for (const field of Object.keys(own)) {
      const variable = `SERVICE_${field.toUpperCase()}`
      assert.ok(document.includes(`Null: ${variable}"`), `${variable} in a request`)
      assert.ok(document.includes(`Null: the setting of the service, ${variable}, counts`), `${variable} in an answer`)
    }
  })
})
