import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedInstance, operationsContactOf } from './operations-contact.ts'

const own = operationsContactOf('shop')

test('the contact is recognised by its source id or its identifier, also when agents changed the other', () => {
  assert.equal(own, 'service-ops-shop')
  assert.equal(namedInstance({ identifier: own, sourceId: own }), 'shop')
  assert.equal(namedInstance({ identifier: '5511@s.whatsapp.net', sourceId: own }), 'shop')
  assert.equal(namedInstance({ identifier: own, sourceId: 'f3c1' }), 'shop')
})

test('other contacts are not taken for it', () => {
  for (const name of [null, '5511999990001', '5511999990001@s.whatsapp.net', 'lid-12345', 'my-service-ops-shop']) {
    assert.equal(namedInstance({ identifier: name, sourceId: name }), undefined, String(name))
  }
})
