import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf } from './schema-fields.ts'

test('nested fields are listed with their place, type and limits', () => {
  const fields = fieldsOf({
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64, description: 'Its name' },
      qr: { type: 'object', properties: { at: { type: 'string', format: 'date-time', nullable: true } } },
      rows: {
        type: 'array',
        maxItems: 3,
        items: { type: 'object', properties: { n: { type: 'integer', minimum: 0 } } },
      },
      state: { type: 'string', enum: ['on', 'off'], default: 'on' },
      status: {
        anyOf: [
          { type: 'string', enum: ['ok'] },
          { type: 'string', enum: ['degraded'] },
        ],
      },
      members: {
        anyOf: [
          { type: 'string', enum: ['all', null], nullable: true },
          { type: 'array', items: { type: 'integer' } },
        ],
      },
    },
  })
  assert.deepEqual(
    fields.map(({ path, type, isRequired, takes }) => [path, type, isRequired, takes]),
    [
      ['name', 'string', true, '1 to 64 characters'],
      ['qr', 'object', false, ''],
      ['qr.at', 'string, date-time or null', false, ''],
      ['rows', 'array of object', false, 'at most 3 items'],
      ['rows[].n', 'integer', false, 'at least 0'],
      ['state', 'string', false, 'one of on, off; default "on"'],
      ['status', 'string', false, 'one of ok, degraded'],
      ['members', 'string or array of integer or null', false, 'one of all'],
    ],
  )
  assert.equal(fields[0]?.description, 'Its name')
})

test('the fields of a list are those of its items', () => {
  const fields = fieldsOf({ type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } })
  assert.deepEqual(
    fields.map(({ path }) => path),
    ['[].name'],
  )
})
