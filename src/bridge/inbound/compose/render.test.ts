import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createIgnoreRule } from '../ignored-chats.ts'
import { mentionsOf } from './mentions.ts'
import { fillHeader, mentionName } from '../../people/names.ts'
import type { KnownPerson } from '../../people/names.ts'
import { renderAd, renderContent, renderMessage, renderQuote, truncate } from './render.ts'
import { textToMarkdown } from './text-to-markdown.ts'
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

test('a huge name leaves room for the words of the message', () => {
  const huge = '😀'.repeat(1_000_000)
  for (const name of [{ pushName: huge }, { savedName: huge }, { phone: null, redactedPhone: huge }]) {
    const author = { ...maria, ...name }
    const parts = { header: author, separator: '\n\n', quote: { author, text: 'said' }, body: 'hello' }
    const text = renderMessage(parts, settings)
    assert.ok(text.length < 2000, `it has ${text.length} characters`)
    assert.ok(text.isWellFormed())
    assert.match(text, /> said\n\nhello$/)
  }
})

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

describe('foreign text', () => {
  const texts = textsOf.en
  const writing = { texts, written: (text: string) => textToMarkdown(text) }

  test('in a contact card shows its marks', () => {
    const card = { name: '*Bob* [x](y)', organisation: '# 1 Motors*', phones: ['+55 11 9'] }
    const wanted = '👤 \\*Bob\\* [x]\\(y)\n\\# 1 Motors\\*\n+55 11 9'
    assert.equal(renderContent({ type: 'contacts', cards: [card] }, writing), wanted)
  })

  test('in a poll shows its marks, in the question and in the options', () => {
    const options = ['1. one', '- two', '*three*', 'two\nlines']
    const poll = { type: 'poll' as const, question: 'a *b* ?', options }
    const wanted = '📊 Poll: a \\*b\\* ?\n- 1\\. one\n- \\- two\n- \\*three\\*\n- two lines'
    assert.equal(renderContent(poll, writing), wanted)
  })

  test('in the place of a location shows its marks, beside a formatted caption', () => {
    const place = { name: '*Bar*', address: 'Rua_1_', latitude: 1, longitude: 2, caption: '*here*', live: false }
    const wanted = '📍 \\*Bar\\*\nRua_1\\_\nhttps://maps.google.com/?q=1,2\n**here**'
    assert.equal(renderContent({ type: 'location', ...place }, writing), wanted)
  })

  test('in an ad shows its marks, and its address can be clicked', () => {
    const ad = renderAd({ title: '*Sale*', body: '# now', url: 'https://x.example/a_b' }, texts)
    assert.equal(ad, '📣 Came from an ad: \\*Sale\\*\n\\# now\nhttps://x.example/a_b')
  })

  test('in a quote gets its backslashes inside of the quote', () => {
    assert.equal(renderQuote({ author: null, text: '# 1\n2*3*4' }, '@$name'), '> `↪`\n> \\# 1\n> 2*3\\*4')
  })

  test('in a name shows its marks, as a mention and in a header that is no code', () => {
    const odd = { ...maria, pushName: '*M_a_* [x](y).' }
    assert.equal(
      textToMarkdown('hi @5511988887777. *ok*', mentionsOf([odd], '@$name')),
      'hi @\\*M\\_a\\_\\* \\[x\\](y)\\.. **ok**',
    )
    const parts = { header: odd, separator: '\n\n', quote: null, body: 'x' }
    assert.equal(
      renderMessage(parts, { ...settings, headerTemplate: '**$name**' }),
      '**\\~\\*M\\_a\\_\\* \\[x\\](y)\\.**\n\nx',
    )
    assert.equal(renderMessage(parts, settings), '`+5511988887777 · ~*M_a_* [x](y).`\n\nx')
  })
})

describe('quotes', () => {
  test('are 200 characters, line by line, with a blank line after', () => {
    const text = `${'a'.repeat(150)}\n${'👍'.repeat(100)}`
    const quote = renderQuote({ author: maria, text }, '@$name')
    assert.equal(quote, `> \`↪ +5511988887777 · ~Maria\`\n> ${'a'.repeat(150)}\n> ${'👍'.repeat(49)}`)
    const parts = { header: null, separator: '\n\n', quote: { author: maria, text: 'x' }, body: 'yes' }
    assert.equal(renderMessage(parts, settings), '> `↪ +5511988887777 · ~Maria`\n> x\n\nyes')
  })

  test('of an unknown person have only the arrow', () => {
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
    assert.equal(
      textToMarkdown(text, mentionsOf([maria, other], '@$name')),
      '@Maria @Other @55119888877771 a@5511988 (@Other)',
    )
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

test('a card with more phones than a call takes arguments is shown', () => {
  const phones = Array.from({ length: 150_000 }, (_, index) => String(index))
  const card = { name: 'Ana', phones, organisation: null }
  const shown = renderContent({ type: 'contacts', cards: [card] }, { texts: textsOf.en, written: (text) => text })
  assert.equal(shown.split('\n').length, phones.length + 1)
})

const limits = { fits: (text: string) => text.length <= 150_000, safeLength: 75_000 }

test('a text too long for the helpdesk is cut and says so', () => {
  const cut = truncate('x'.repeat(200_000), 'outgoing', limits, textsOf.en)
  assert.ok(cut.length < limits.safeLength)
  assert.match(cut, /cut off here\.$/)
})

test('a cut leaves neither a block of code open nor a backslash without its character', () => {
  const small = { fits: (text: string) => text.length < 10, safeLength: 2007 }
  assert.equal(truncate('```\ncode and more code', 'incoming', small, textsOf.en).split('✂️')[0], '```\ncod\n```\n\n')
  assert.equal(truncate('123456\\*89012', 'incoming', small, textsOf.en).split('✂️')[0], '123456\\\\\n\n')
})

test('a text that fits is not cut, also when it is longer than the safe length', () => {
  const text = 'x'.repeat(100_000)
  assert.equal(truncate(text, 'outgoing', limits, textsOf.en), text)
})

test('persons and groups are ignored by pattern', () => {
  const isIgnored = createIgnoreRule(['5511*@s.whatsapp.net', '*@g.us'])
  assert.equal(isIgnored({ kind: 'person', phone: '5511988887777', lid: null }), true)
  assert.equal(isIgnored({ kind: 'person', phone: '5521988887777', lid: '5511' }), false)
  assert.equal(isIgnored({ kind: 'group', id: '1' }), true)
  assert.equal(createIgnoreRule([])({ kind: 'group', id: '1' }), false)
})
