import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pastTimeFormat } from './past-time.ts'

const at = Date.UTC(2026, 10, 3, 2, 5)

test('a past time is written in the language and the time zone of the agents', () => {
  const zone = 'America/Sao_Paulo'
  assert.equal(pastTimeFormat(zone, 'en')(at), '2 Nov 2026, 23:05')
  assert.equal(pastTimeFormat(zone, 'es')(at), '2 nov 2026, 23:05')
  assert.equal(pastTimeFormat(zone, 'pt')(at), '2 de nov. de 2026, 23:05')
})

test('a past time in summer counts the hour of the summer', () => {
  assert.equal(pastTimeFormat('Europe/Berlin', 'en')(Date.UTC(2026, 6, 1, 12)), '1 Jul 2026, 14:00')
  assert.equal(pastTimeFormat('Europe/Berlin', 'en')(Date.UTC(2026, 0, 1, 12)), '1 Jan 2026, 13:00')
})

test('a past time after midnight has the hour 00', () => {
  assert.equal(pastTimeFormat('America/Sao_Paulo', 'en')(Date.UTC(2026, 10, 3, 3, 5)), '3 Nov 2026, 00:05')
})

test('without a known time zone a past time is in UTC and says so', () => {
  for (const zone of [null, 'UTC', 'Etc/UTC', 'Pacific Time (US & Canada)', '../etc', '']) {
    assert.equal(pastTimeFormat(zone, 'en')(at), '3 Nov 2026, 02:05 UTC')
  }
})
