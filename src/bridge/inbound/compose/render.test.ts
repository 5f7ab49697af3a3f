import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createIgnoreRule } from '../ignored-chats.ts'
import { nameMentions } from './mentions.ts'
import { fillHeader, mentionName } from '../../people/names.ts'
import type { KnownPerson } from '../../people/names.ts'
import { renderContent, renderMessage, renderQuote, truncate } from './render.ts'
import { textsOf } from './texts.ts'

const maria: KnownPerson = {
  phone: '5511988887777',
  lid: '99',
  pushName: 'Maria',
  savedName: null,
  redactedPhone: null,
}
const header = '`$phone · $name`'
const settings = {
  headerTemplate: header,
  mentionTemplate: '@$name',
  groupHeaderSeparator: '\n\n',
  reactionHeaderSeparator: '\n',
}

describe('headers', () => {
  const rows: [what: string, person: Partial<KnownPerson>, wanted: string, template?: string][] = [
    ['phone and name', {}, '`+5511988887777 · ~Maria`'],
    ['a saved name has no tilde', { savedName: 'Mum' }, '`+5511988887777 · Mum`'],
    ['no name', { pushName: null }, '`+5511988887777`'],
    ['a redacted phone', { phone: null, redactedPhone: '+55119888877∙∙' }, '`+55119888877∙∙ · ~Maria`'],
    ['an anonymous id', { phone: null }, '`99 · ~Maria`'],
    ['name only', { phone: null, lid: null }, '`~Maria`'],
    ['nothing at all', { phone: null, lid: null, pushName: null }, ''],
    ['backticks and line breaks in a name', { pushName: 'a`b\nc' }, '`+5511988887777 · ~a b c`'],
    ['each of them is a space', { pushName: '`a`\r\nb  c' }, '`+5511988887777 · ~ a   b  c`'],
    ['a name of nothing else', { pushName: '``\n' }, '`+5511988887777`'],
    ['another template', {}, '**~Maria** (+5511988887777)', '**$name** ($phone)'],
    ['a name that looks like a template', { pushName: '$phone $&' }, '`+5511988887777 · ~$phone $&`'],
  ]
  for (const [what, person, wanted, template = header] of rows) {
    test(what, () => {
      assert.equal(fillHeader(template, { ...maria, ...person }), wanted)
    })
  }
})

test('what was done to a message is told in the language of the helpdesk', () => {
  const told = (['en', 'es', 'pt'] as const).map((locale) => {
    const writing = { texts: textsOf[locale], written: (text: string) => text }
    return (['pinned', 'unpinned', 'kept', 'unkept'] as const).map((mark) =>
      renderContent({ type: 'mark', mark }, writing),
    )
  })
  assert.deepEqual(told, [
    ['📌 pinned a message', '📌 unpinned a message', '🔖 kept a message', '🔖 no longer keeps a message'],
    ['📌 fijó un mensaje', '📌 dejó de fijar un mensaje', '🔖 conservó un mensaje', '🔖 dejó de conservar un mensaje'],
    [
      '📌 fixou uma mensagem',
      '📌 desafixou uma mensagem',
      '🔖 manteve uma mensagem',
      '🔖 deixou de manter uma mensagem',
    ],
  ])
})

describe('quotes', () => {
  test('are 200 characters, line by line, with a blank line after', () => {
    const text = `${'a'.repeat(150)}\n${'👍'.repeat(100)}`
    const quote = renderQuote({ author: maria, text }, '@$name')
    assert.equal(quote, `> \`↪ +5511988887777 · ~Maria\`\n> ${'a'.repeat(150)}\n> ${'👍'.repeat(49)}`)
    const parts = { header: null, separator: '\n\n', quote: { author: maria, text: 'x' }, body: 'yes' }
    assert.equal(renderMessage(parts, settings), '> `↪ +5511988887777 · ~Maria`\n> x\n\nyes')
  })

  test('of somebody unknown have only the arrow', () => {
    assert.equal(renderQuote({ author: null, text: 'x' }, '@$name'), '> `↪`\n> x')
  })

  test('name whom they mention, and leave out whom they would cut in half', () => {
    const quote = (text: string) => renderQuote({ author: null, text, mentioned: [maria] }, '@$name').slice(8)
    assert.equal(quote('ask @5511988887777 or @99 or @123456'), 'ask @Maria or @99 or @123456')
    assert.equal(quote(`${'a'.repeat(190)} @5511988887777`), `${'a'.repeat(190)} `)
    assert.equal(quote(`${'a'.repeat(195)} (@5511988887777`), `${'a'.repeat(195)} (`)
    assert.equal(quote(`${'a'.repeat(186)}@5511988887777 b`), `${'a'.repeat(186)}@5511988887777`)
  })
})

describe('mentions', () => {
  test('are replaced as whole tokens', () => {
    const other = { ...maria, phone: null, lid: '5511988', pushName: 'Other' }
    const text = '@5511988887777 @5511988 @55119888877771 a@5511988 (@5511988)'
    assert.equal(nameMentions(text, [maria, other], '@$name'), '@Maria @Other @55119888877771 a@5511988 (@Other)')
  })

  test('are named by push name, saved name, phone, redacted phone, anonymous id', () => {
    const steps: Partial<KnownPerson>[] = [
      {},
      { pushName: null, savedName: 'Mum' },
      { pushName: null },
      { pushName: null, phone: null, redactedPhone: '+551∙' },
      { pushName: null, phone: null },
    ]
    assert.deepEqual(
      steps.map((step) => mentionName({ ...maria, ...step })),
      ['Maria', 'Mum', '+5511988887777', '+551∙', '99'],
    )
  })
})

const limits = { fits: (text: string) => text.length <= 150_000, safeLength: 75_000 }

test('a text too long for the helpdesk is cut and says so', () => {
  const cut = truncate('x'.repeat(200_000), 'outgoing', limits, textsOf.en)
  assert.ok(cut.length < limits.safeLength)
  assert.match(cut, /cut off here\.$/)
})

test('a text that fits is not cut, also when it is longer than the safe length', () => {
  const text = 'x'.repeat(100_000)
  assert.equal(truncate(text, 'outgoing', limits, textsOf.en), text)
})

test('chats are ignored by pattern, whatever they are addressed by', () => {
  const isIgnored = createIgnoreRule(['5511*@s.whatsapp.net', '*@g.us'])
  assert.equal(isIgnored({ kind: 'person', phone: '5511988887777', lid: null }), true)
  assert.equal(isIgnored({ kind: 'person', phone: '5521988887777', lid: '5511' }), false)
  assert.equal(isIgnored({ kind: 'group', id: '1' }), true)
  assert.equal(createIgnoreRule([])({ kind: 'group', id: '1' }), false)
})
