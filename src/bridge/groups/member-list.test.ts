import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeMemberList } from './member-list.ts'
import type { NamedMember } from './named-members.ts'

const member = (more: Partial<NamedMember> = {}): NamedMember => ({
  phone: '5511888880001',
  lid: null,
  savedName: null,
  pushName: null,
  redactedPhone: null,
  role: 'member',
  ...more,
})

test('administrators come first, and a name cannot break out of its line', () => {
  const members = [
    member({ pushName: 'A `code`\n- fake' }),
    member({ phone: null, lid: '200000000000001', redactedPhone: '+55∙∙∙09' }),
    member({ phone: '5511888880003', savedName: '*Mia*', role: 'admin' }),
    member({ phone: null, lid: '200000000000004', role: 'superadmin' }),
  ]
  assert.deepEqual(writeMemberList(members, 'pt', 75_000), [
    [
      'Membros deste grupo: 4',
      '',
      '- `200000000000004` (proprietário)',
      '- `+5511888880003 · *Mia*` (administrador)',
      '- `+5511888880001 · ~A  code  - fake`',
      '- `+55∙∙∙09`',
    ].join('\n'),
  ])
})

test('a list that does not fit into one note has several, and no member is missing', () => {
  const members = Array.from({ length: 1024 }, (_, n) =>
    member({ phone: `${5511900000000 + n}`, pushName: 'x'.repeat(255) }),
  )
  const notes = writeMemberList(members, 'en', 75_000)
  assert.equal(notes.length, 4)
  for (const [index, note] of notes.entries()) {
    assert.ok(note.length <= 75_000)
    assert.ok(note.startsWith(`Members of this group: 1024 (part ${index + 1} of 4)\n\n- `))
  }
  const phones = notes.flatMap((note) => [...note.matchAll(/`\+(\d+) /g)].map(([, phone]) => phone))
  assert.deepEqual(
    phones,
    members.map(({ phone }) => phone),
  )
})

test('a group without members has one note', () => {
  assert.deepEqual(writeMemberList([], 'en', 75_000), ['Members of this group: 0\n\n'])
})
