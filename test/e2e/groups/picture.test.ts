// The picture of a group is sent as a form with a file.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { assertRefused } from '../../harness/assertions.ts'
import { World } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const open = async () => new GroupWorld(await World.open())
const drawn = sharp({ create: { width: 900, height: 700, channels: 3, background: 'teal' } })

test('a JPEG, a PNG and a WebP file become the picture of the group', async () => {
  await using set = await open()
  const group = set.ownGroup()
  const path = `/${group.jid}/picture`
  for (const file of [await drawn.jpeg().toBuffer(), await drawn.png().toBuffer(), await drawn.webp().toBuffer()]) {
    const before = group.picture?.id
    const { status, body } = await set.postForm(path, 'picture', file)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body, { jid: group.jid, changed: true })
    assert.notEqual(group.picture?.id, before)
    const { format, width, height } = await sharp(group.picture?.jpeg).metadata()
    assert.equal(format, 'jpeg')
    assert.ok(width === height && width <= 640, `${width} × ${height}`)
  }
  const actions = (await set.audit()).map(({ action, target }) => [action, target])
  assert.deepEqual(actions, Array(3).fill(['group.picture', group.jid]))
})

test('a body that has no picture is refused, and the group keeps its picture', async () => {
  await using set = await open()
  const group = set.ownGroup()
  const path = `/${group.jid}/picture`
  const jpeg = await drawn.jpeg().toBuffer()
  const json = { 'content-type': 'application/json' }
  assertRefused(await set.postBytes(path, jpeg, json), 'SERVICE_UNSUPPORTED_MEDIA_TYPE', /multipart\/form-data/)
  assertRefused(await set.postBytes(path, jpeg, { 'content-type': 'image/jpeg' }), 'SERVICE_UNSUPPORTED_MEDIA_TYPE')
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  assertRefused(await set.postBytes(path, jpeg, form), 'SERVICE_BAD_REQUEST', /not a valid form/)
  assertRefused(await set.call({ method: 'POST', path }), 'SERVICE_BAD_REQUEST', /not a valid form/)
  assertRefused(await set.postForm(path, 'file', jpeg), 'SERVICE_BAD_REQUEST', /^picture must be a file/)
  assertRefused(await set.postForm(path, 'picture', 'a text'), 'SERVICE_BAD_REQUEST', /^picture must be a file/)
  const notPictures = [Buffer.from('%PDF-1.4'), Buffer.from('GIF89a'), Buffer.alloc(0), Buffer.alloc(1000)]
  for (const file of notPictures) {
    const answer = await set.postForm(path, 'picture', file)
    assertRefused(answer, 'SERVICE_UNSUPPORTED_MEDIA_TYPE', /^picture is not a JPEG, PNG or WebP file/)
  }
  assertRefused(await set.postForm(path, 'picture', jpeg.subarray(0, 20)), 'SERVICE_BAD_REQUEST')
  const large = Buffer.concat([jpeg, Buffer.alloc(5 * 1024 ** 2)])
  assertRefused(await set.postForm(path, 'picture', large), 'SERVICE_BODY_TOO_LARGE', /5 MB/)
  assertRefused(await set.postForm(path, 'picture', Buffer.alloc(8 * 1024 ** 2)), 'SERVICE_BODY_TOO_LARGE')
  assert.equal(group.picture, undefined)
  assert.deepEqual(await set.audit(), [])
})
