// Texts that PostgreSQL does not store (a NUL) or that are no text (half of a surrogate pair), everywhere a caller can
// put a text.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'

type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema; enum?: unknown[] }
type Parameter = { name: string; in: string; schema: Schema }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  /** A form has files in place of texts. */
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
}
type Document = { paths: Record<string, Record<string, Operation>> }
type Request = { method: string; path: string; body?: unknown }

const oddTexts = { 'a NUL': 'a\u0000b', 'half of a surrogate pair': 'a\ud800b' }
/** What UTF-8 has for half of a surrogate pair is no UTF-8; the path is refused as such. */
const escaped: Record<string, string> = { 'a\u0000b': 'a%00b', 'a\ud800b': 'a%ED%A0%80b' }

/** Every request with one odd text in it: in each parameter, and in each text of the body. */
function requestsOf(path: string, method: string, { parameters = [], requestBody }: Operation, odd: string): Request[] {
  const filled = (name?: string) =>
    path.replaceAll(/\{(\w+)\}/g, (_, each) => (each === name ? (escaped[odd] ?? '') : 'a'))
  const json = requestBody?.content['application/json']
  const body = json && sampleOf(json.schema)
  const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => filled(name))
  // Escapes that are no UTF-8 stay as they are in a query.
  const inQuery = parameters.filter((each) => each.in === 'query' && odd.isWellFormed())
  return [
    ...[...inPath, ...inQuery.map(({ name }) => `${filled()}?${name}=${escaped[odd] ?? ''}`)].map((each) => ({
      method,
      path: each,
      ...(body !== undefined && { body }),
    })),
    ...(body === undefined ? [] : withOdd(body, odd).map((each) => ({ method, path: filled(), body: each }))),
  ]
}

function sampleOf({ type, properties = {}, items, enum: values }: Schema): unknown {
  if (values) return values[0]
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, sampleOf(each)]))
  if (type === 'array') return items ? [sampleOf(items)] : []
  return type === 'string' ? 'https://a.example' : type === 'integer' ? 1 : true
}

/** Copies of the value, each with one of its texts replaced. */
function withOdd(value: unknown, odd: string): unknown[] {
  if (typeof value === 'string') return [odd]
  if (typeof value !== 'object' || value === null) return []
  const copies = Object.entries(value).flatMap(([key, each]) =>
    withOdd(each, odd).map((copy) => ({ ...value, [key]: copy })),
  )
  return Array.isArray(value) ? copies.map((copy) => Object.values(copy)) : copies
}

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    for (const [what, odd] of Object.entries(oddTexts)) {
      test(`${what} in any parameter or text of a request is a refusal, never a failure of ours`, async () => {
        await using service = await Service.start({
          engine,
          seed: async (database) => {
            await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
          },
        })
        const { paths } = (await service.get('/static/openapi.json')).body as Document
        const bad: string[] = []
        let count = 0
        for (const [path, operations] of Object.entries(paths)) {
          for (const [method, operation] of Object.entries(operations)) {
            for (const { body, ...request } of requestsOf(path, method.toUpperCase(), operation, odd)) {
              const text = body === undefined ? '' : JSON.stringify(body)
              const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' }
              const { status } = await requestRaw(service.url, { ...request, headers, body: text })
              count += 1
              if (status < 400 || status >= 500) bad.push(`${request.method} ${request.path} ${text} is ${status}`)
            }
          }
        }
        assert.ok(count > 40, `${count} requests`)
        assert.deepEqual(bad, [])
      })

      test(`${what} in any text of a callback is never a failure of ours`, async () => {
        await using world = await AgentWorld.open({ engine })
        const callback = world.callback(1, 'hello', {
          content_attributes: { in_reply_to_external_id: '3EB0', external_error: '' },
          sender: { name: 'Ana', type: 'user' },
          attachments: [{ id: 1, data_url: 'https://a.example/x.png', content_type: 'image/png', file_size: 5 }],
        })
        const bad: string[] = []
        let id = 100
        for (const event of ['message_created', 'message_updated', 'conversation_updated', 'conversation_typing_on']) {
          for (const body of withOdd({ ...callback, event }, odd)) {
            const { status, body: answer } = await world.post({ ...(body as object), id: id++ })
            // The file of the message does not exist.
            const isRefused = (answer as { error_code?: string }).error_code === 'SERVICE_MESSAGE_REFUSED'
            if (status === 500 && !isRefused) bad.push(JSON.stringify(body))
          }
        }
        assert.deepEqual(bad, [])
        assert.deepEqual(world.service.logs.withMessage('request failed'), [])
      })
    }
  })
}
