import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkAgeAfterLogin } from './link-age.ts'

const day = 86_400_000
const now = 1_800_000_000_000
const [number, other] = ['1@s.whatsapp.net', '2@s.whatsapp.net']
const linked = { jid: number, pairedAt: now - day, linkedJid: number, linkedAt: now - 5 * day, unlinkedAt: null }

test('a new number is linked since its pairing', () => {
  const row = { ...linked, linkedJid: null, linkedAt: null }
  assert.deepEqual(linkAgeAfterLogin(row, now), { linkedJid: number, linkedAt: now - day, unlinkedAt: null })
})

test('a login of the same number changes nothing', () => {
  assert.equal(linkAgeAfterLogin(linked, now), undefined)
})

test('a number that is linked again within 30 days keeps its age, and loses it later', () => {
  assert.deepEqual(linkAgeAfterLogin({ ...linked, unlinkedAt: now - 30 * day }, now), { unlinkedAt: null })
  const anew = { linkedJid: number, linkedAt: now, unlinkedAt: null }
  assert.deepEqual(linkAgeAfterLogin({ ...linked, unlinkedAt: now - 30 * day - 1 }, now), anew)
})

test('another number starts anew', () => {
  const anew = { linkedJid: other, linkedAt: now, unlinkedAt: null }
  assert.deepEqual(linkAgeAfterLogin({ ...linked, jid: other }, now), anew)
  assert.deepEqual(linkAgeAfterLogin({ ...linked, jid: other, unlinkedAt: now - 1 }, now), anew)
})

test('a time in the future, stored while the clock was ahead, keeps the age', () => {
  assert.deepEqual(linkAgeAfterLogin({ ...linked, unlinkedAt: now + 400 * day }, now), { unlinkedAt: null })
})
