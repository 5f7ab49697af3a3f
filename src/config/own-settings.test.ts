import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { chooseSettings, ownSettingRules } from './own-settings.ts'

const ruleOf = (field: string) => {
  const rule = ownSettingRules.find((each) => each.field === field)
  assert.ok(rule, field)
  return rule
}

test('an instance can have these settings of its own, and the API knows them by these names', () => {
  const marked = Object.fromEntries(
    ownSettingRules.map(({ field, variable, schema }) => [field, [variable, schema.type]]),
  )
  assert.deepEqual(marked, {
    conversation_mode: ['SERVICE_CONVERSATION_MODE', 'string'],
    new_conversation_status: ['SERVICE_NEW_CONVERSATION_STATUS', 'string'],
    ignore_jids: ['SERVICE_IGNORE_JIDS', 'array'],
    header_template: ['SERVICE_HEADER_TEMPLATE', 'string'],
    quote_style: ['SERVICE_QUOTE_STYLE', 'string'],
    reject_calls: ['SERVICE_REJECT_CALLS', 'boolean'],
    locale: ['SERVICE_LOCALE', 'string'],
    sign_messages: ['SERVICE_SIGN_MESSAGES', 'boolean'],
  })
})

test('a value of the API is checked by the rule of the variable', () => {
  const taken: [string, unknown, unknown][] = [
    ['conversation_mode', 'reopen', 'reopen'],
    ['new_conversation_status', 'pending', 'pending'],
    ['quote_style', 'bubble', 'bubble'],
    ['ignore_jids', [], []],
    ['ignore_jids', [' *@g.us ', '5511*'], ['*@g.us', '5511*']],
    ['header_template', ' **$name** ', '**$name**'],
    ['header_template', '$'.repeat(500), '$'.repeat(500)],
    ['reject_calls', false, false],
    ['sign_messages', true, true],
    ['locale', 'pt-BR', 'pt'],
  ]
  for (const [field, value, stored] of taken) assert.deepEqual(ruleOf(field).parse(value), stored, field)
  const many = (count: number, item: string) => Array.from({ length: count }, () => item)
  const refused: [string, ...unknown[]][] = [
    ['conversation_mode', 'New', '', 1, null, ['new'], {}],
    ['new_conversation_status', 'resolved', true],
    ['quote_style', 'bubbles', 0],
    ['ignore_jids', '*@g.us', [1], ['a,b'], [''], [' '], [null], [['a']], many(1001, 'a'), ['x'.repeat(257)]],
    ['header_template', '$nmae', '', '  ', 7, 'x'.repeat(501)],
    ['reject_calls', 'true', 1, 0],
    ['sign_messages', 'false', null],
    ['locale', 'fr', '', 'x'.repeat(100_000)],
  ]
  for (const [field, ...values] of refused) {
    for (const value of values) assert.equal(ruleOf(field).parse(value), undefined, `${field} ${JSON.stringify(value)}`)
  }
  assert.deepEqual(ruleOf('ignore_jids').parse(many(1000, 'x'.repeat(256))), many(1000, 'x'.repeat(256)))
})

test('the bounds of a list and of a template hold for the variable too', () => {
  for (const [name, text] of Object.entries({
    SERVICE_IGNORE_JIDS: Array.from({ length: 1001 }, () => 'a').join(','),
    SERVICE_HEADER_TEMPLATE: 'x'.repeat(501),
  })) {
    assert.throws(() => loadConfig({ [name]: text }), { message: new RegExp(`${name}=.*: takes `) })
  }
})

test('the value of the instance counts, and for every other setting that of the service', () => {
  const config = loadConfig({ SERVICE_LOCALE: 'es', SERVICE_SIGN_MESSAGES: 'true', SERVICE_IGNORE_JIDS: '*@g.us' })
  const ofService = {
    conversationMode: 'new',
    newConversationStatus: 'open',
    ignoreJids: ['*@g.us'],
    headerTemplate: '`$phone · $name`',
    quoteStyle: 'both',
    rejectCalls: false,
    locale: 'es',
    signMessages: true,
  }
  assert.deepEqual(chooseSettings(config, {}), ofService)
  const own = { sign_messages: false, ignore_jids: [], quote_style: 'text' }
  assert.deepEqual(chooseSettings(config, own), {
    ...ofService,
    signMessages: false,
    ignoreJids: [],
    quoteStyle: 'text',
  })
})

test('a stored value that this build does not know does not count', () => {
  const own = { locale: 'fr', quote_style: 7 as never, of_a_later_build: true }
  assert.deepEqual(chooseSettings(loadConfig({}), own), chooseSettings(loadConfig({}), {}))
})
