import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { interactiveTextOf } from './interactive-text.ts'
import { Payload } from './payload.ts'

const textOf = (content_type: string, items: unknown, content: string | null = 'Please choose') =>
  interactiveTextOf(Payload.of({ content, content_type, content_attributes: { items } }), 'en')
const shown = (...written: Parameters<typeof textOf>) => textOf(...written).content
const choicesOf = (...written: Parameters<typeof textOf>) => textOf(...written).choices

const button = (text: string) => ({ type: 'postback', text, payload: text.toUpperCase() })
const link = (text: string, uri: string) => ({ type: 'link', text, uri })

test('the choices of a selection are numbered below its text', () => {
  const items = [{ title: 'Yes', value: 'y' }, { value: 7 }]
  assert.equal(shown('input_select', items), 'Please choose\n\n1. Yes\n2. 7')
  assert.deepEqual(choicesOf('input_select', items), ['Yes', '7'])
  assert.equal(shown('input_select', items, null), '1. Yes\n2. 7')
})

test('the buttons of cards are numbered from card to card, and buttons with a link stay links', () => {
  const cards = [
    { title: 'Red\nshoe', description: 'size 40', actions: [link('View', 'https://x.example/1'), button('Buy')] },
    { title: '2*3', media_url: 'https://img.example/2', actions: [button('Ask'), { uri: 'https://x.example/2' }] },
  ]
  assert.equal(
    shown('cards', cards, null),
    '**Red shoe**\nsize 40\nView: https://x.example/1\n1. Buy\n\n2*3\nhttps://img.example/2\n2. Ask\nhttps://x.example/2',
  )
  assert.deepEqual(choicesOf('cards', cards), ['Buy', 'Ask'])
})

test('buttons with the same title are told apart by their card, and options of fields by their field', () => {
  const cards = [
    { title: 'Red shoe', actions: [button('Buy'), button('Ask')] },
    { title: 'Blue shoe', actions: [button('buy')] },
    { actions: [button('Buy')] },
  ]
  assert.deepEqual(choicesOf('cards', cards), ['Red shoe: Buy', 'Ask', 'Blue shoe: buy', 'Buy'])
  const fields = [
    { label: 'Size', options: ['S', 'M'] },
    { label: 'Colour', options: [{ label: 'Red' }, { label: 's' }] },
  ]
  assert.deepEqual(choicesOf('form', fields), ['Size: S', 'M', 'Red', 'Colour: s'])
})

test('a long title of a card is cut before a choice, and no half of an emoji is left', () => {
  const title = `${'x'.repeat(99)}🎉 party`
  const [first] = choicesOf('cards', [
    { title, actions: [button('Buy')] },
    { title: 'Two', actions: [button('Buy')] },
  ])
  assert.equal(first, `${'x'.repeat(99)}: Buy`)
})

test('cards without choices and articles can be chosen themselves when there are several', () => {
  const cards = [
    { title: 'One', actions: [link('View', 'https://x.example/1')] },
    { title: 'Two' },
    { description: 'd' },
  ]
  assert.equal(shown('cards', cards, null), '1. **One**\nView: https://x.example/1\n\n2. **Two**\n\nd')
  assert.deepEqual(choicesOf('cards', cards), ['One', 'Two'])
  assert.deepEqual(choicesOf('cards', cards.slice(0, 1)), [])
  const articles = [{ title: 'Doc', description: 'd', link: 'https://docs.example/1' }, { title: 'Other' }]
  assert.equal(shown('article', articles, null), '1. **Doc**\nd\nhttps://docs.example/1\n\n2. **Other**')
  assert.deepEqual(choicesOf('article', articles), ['Doc', 'Other'])
  assert.equal(shown('article', articles.slice(0, 1), null), '**Doc**\nd\nhttps://docs.example/1')
})

test('the fields of a form are questions with their hints and numbered options', () => {
  const fields = [
    { name: 'mail', label: 'E-mail', placeholder: 'you@x.example' },
    { name: 'phone', placeholder: 'Phone' },
    { name: 'size', options: [{ label: 'S' }, { value: 'm' }, 5, 'L'] },
    { label: 'Colour', default: 'red', options: [] },
    { options: [{ label: 'Last' }] },
  ]
  assert.equal(
    shown('form', fields),
    'Please choose\n\nE-mail (you@x.example)\nPhone\nsize:\n1. S\n2. m\n3. 5\n4. L\nColour (red)\n5. Last',
  )
  assert.deepEqual(choicesOf('form', fields), ['S', 'm', '5', 'L', 'Last'])
})

test('a request for an e-mail address asks for it, in the language of the service', () => {
  assert.equal(shown('input_email', null, 'Stay in touch'), 'Stay in touch\n\nPlease reply with your e-mail address.')
  assert.equal(shown('input_email', null, null), 'Please reply with your e-mail address.')
  const asked = interactiveTextOf(Payload.of({ content: 'Oi', content_type: 'input_email' }), 'pt')
  assert.equal(asked.content, 'Oi\n\nResponda com o seu endereço de e-mail, por favor.')
})

test('every other kind keeps its text as it is, and items that make no sense are left out', () => {
  assert.equal(shown('text', [{ title: 'no' }]), 'Please choose')
  for (const items of [null, 'x', 5, {}, [null, 5, 'x', [], {}, { title: {} }, { actions: 5 }, { options: [null] }]]) {
    for (const kind of ['input_select', 'cards', 'form', 'article']) {
      assert.deepEqual(textOf(kind, items), { content: 'Please choose', choices: [], lacksLink: false })
    }
  }
  assert.equal(shown('cards', [], null), '')
})

test('no choice, title, description or link of any message is lost', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8})?$/)
  const maybe = (value: fc.Arbitrary<string>) => fc.option(value, { nil: undefined })
  const address = fc.webUrl().map((url) => url.replaceAll(/\s/g, ''))
  const action = fc.oneof(fc.record({ text: word, payload: word }), fc.record({ text: word, uri: address }))
  const card = { title: maybe(word), description: maybe(word), media_url: maybe(address) }
  const kinds: Record<string, fc.Arbitrary<object>> = {
    input_select: fc.record({ title: word, value: word }),
    cards: fc.record({ ...card, actions: fc.array(action, { maxLength: 3 }) }),
    form: fc.record({ label: word, placeholder: maybe(word), options: fc.array(fc.record({ label: word })) }),
    article: fc.record({ title: word, description: maybe(word), link: address }),
  }
  for (const [kind, item] of Object.entries(kinds)) {
    const wordsOf = (value: unknown): string[] => {
      if (typeof value === 'string') return [value]
      const isCode = ([name]: [string, unknown]) => ['value', 'payload'].includes(name)
      const fields = Object.entries(value ?? {}).filter((field) => !isCode(field))
      return fields.flatMap(([, each]) => wordsOf(each))
    }
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (items) => {
        const { content, choices } = textOf(kind, items)
        for (const each of wordsOf(items)) assert.ok(content.includes(each), `${each} in ${content}`)
        const numbered = content.split('\n').filter((line) => /^\d+\. /.test(line))
        assert.deepEqual(
          numbered.map((line) => line.slice(0, line.indexOf('.'))),
          choices.map((_, index) => String(index + 1)),
        )
        for (const [index, choice] of choices.entries()) {
          const title = numbered[index]?.replace(/^\d+\. |\*\*/g, '') ?? ''
          assert.ok(choice.endsWith(title), `${choice} is ${title}`)
        }
      }),
    )
  }
})
