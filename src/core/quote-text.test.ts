import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Content } from './message.ts'
import { quoteTextOf } from './quote-text.ts'

const place = { type: 'location', latitude: -23.5, longitude: -46.6, name: null, address: null, caption: null } as const

test('a quote of a location shows its caption, else its name, its address or its coordinates', () => {
  const location = (more: Partial<Extract<Content, { type: 'location' }>>): Content => ({
    ...place,
    live: false,
    ...more,
  })
  const full = { caption: 'meet me here', name: 'Café', address: 'Rua Augusta 1' }
  assert.equal(quoteTextOf(location(full)), 'meet me here')
  assert.equal(quoteTextOf(location({ ...full, caption: null })), 'Café')
  assert.equal(quoteTextOf(location({ address: 'Rua Augusta 1' })), 'Rua Augusta 1')
  assert.equal(quoteTextOf(location({})), '-23.5, -46.6')
})

test('a quote of a file shows its caption or its name; a picture without either has no text', () => {
  const file = { kind: 'image', url: null, directPath: null, mediaKey: '', sha256: null, encSha256: null } as const
  const media = (caption: string | null, fileName: string | null): Content => ({
    ...{ type: 'media', media: 'image', file, mimeType: 'image/png', size: null, seconds: null },
    ...{ caption, fileName },
  })
  assert.equal(quoteTextOf(media('look', 'a.png')), 'look')
  assert.equal(quoteTextOf(media(null, 'a.png')), 'a.png')
  assert.equal(quoteTextOf(media(null, null)), null)
})
