import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOf } from './interactive-text.ts'
import { Payload } from './payload.ts'

const shown = (content_type: string, items: unknown, content: string | null = 'Please choose') =>
  textOf(Payload.of({ content, content_type, content_attributes: { items } }))

test('the items of an interactive message follow its text, and stand alone without one', () => {
  assert.equal(shown('input_select', [{ title: 'Yes', value: 'y' }, { value: 7 }]), 'Please choose\n\n- Yes\n- 7')
  assert.equal(
    shown(
      'cards',
      [
        {
          title: 'Red\nshoe',
          description: 'size 40',
          actions: [{ type: 'link', text: 'View', uri: 'https://x.example/1' }],
        },
        {
          title: '2*3',
          media_url: 'https://img.example/2',
          actions: [{ text: 'Buy' }, { uri: 'https://x.example/2' }],
        },
      ],
      null,
    ),
    '**Red shoe**\nsize 40\nView: https://x.example/1\n\n2*3\nhttps://img.example/2\n- Buy\nhttps://x.example/2',
  )
  assert.equal(
    shown('form', [
      { name: 'mail', placeholder: 'Mail' },
      { name: 'size', options: [{ label: 'S' }, { value: 'm' }] },
    ]),
    'Please choose\n\n- Mail\n- size: S, m',
  )
})

test('every other kind keeps its text as it is, and items that make no sense are left out', () => {
  assert.equal(shown('text', [{ title: 'no' }]), 'Please choose')
  assert.equal(shown('input_csat', [{ title: 'no' }], ' rate us '), ' rate us ')
  for (const items of [null, 'x', 5, {}, [null, 5, 'x', [], {}, { title: {} }, { actions: 5 }, { options: [5] }]]) {
    for (const kind of ['input_select', 'cards', 'form', 'article']) assert.equal(shown(kind, items), 'Please choose')
  }
  assert.equal(shown('cards', [], null), '')
})
