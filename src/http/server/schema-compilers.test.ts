import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilersFactory } from './schema-compilers.ts'

const { buildSerializer, buildValidator } = compilersFactory
const route = { method: 'GET', url: '/', httpStatus: '200' }
const schemaWith = (name: string) => ({ type: 'object', required: [name], properties: { [name]: { type: 'string' } } })

test('two servers share the writer of an answer, and another answer has a writer of its own', () => {
  const [one, other] = [buildSerializer({}), buildSerializer({})]
  const write = one({ ...route, schema: schemaWith('a') })
  assert.equal(other({ ...route, schema: schemaWith('a') }), write)
  assert.equal(write({ a: 'kept', b: 'left out' }), '{"a":"kept"}')
  assert.equal(other({ ...route, schema: schemaWith('b') })({ b: 'kept' }), '{"b":"kept"}')
})

test('two servers with the same options share a check, and one with other options does not', () => {
  const schema = { schema: schemaWith('a') }
  const strict = { customOptions: { coerceTypes: false } }
  const check = buildValidator({}, strict)(schema)
  assert.equal(buildValidator({}, strict)(schema), check)
  assert.equal(check({ a: 5 }), false)
  assert.equal(buildValidator({}, { customOptions: { coerceTypes: true } })(schema)({ a: 5 }), true)
})

test('a schema is compiled when it is first used', () => {
  const broken = { ...route, schema: { $ref: '#/definitions/missing' } }
  const write = buildSerializer({})(broken)
  const check = buildValidator({}, { customOptions: {} })({ schema: schemaWith('later') })
  assert.throws(() => write({ a: 1 }))
  assert.equal(check({}), false)
  assert.equal((check.errors ?? []).length, 1)
})

test('a check keeps the errors of its last call, and fills in defaults', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', default: 'filled in' } } }
  const check = buildValidator({}, { customOptions: { useDefaults: true } })({ schema })
  const value: { a?: string } = {}
  assert.equal(check(value), true)
  assert.equal(value.a, 'filled in')
  assert.equal(check.errors, null)
})
