// Compares our schemas with the published description of the interface, if that file is present.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { RouteFacts } from '../../sim/helpdesk/http/build-app.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'

type Schema = {
  $ref?: string
  allOf?: Schema[]
  anyOf?: Schema[]
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
}
type Operation = {
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
type Description = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const file = new URL('../../../shared/contract/chatwoot-swagger.json', import.meta.url)
const skip = existsSync(file) ? false : 'the published description is not here'

let helpdesk: SimHelpdesk
before(async () => {
  helpdesk = await SimHelpdesk.start()
})
after(() => helpdesk[Symbol.asyncDispose]())

// Properties that an API inbox or this simulator does not need, each with the reason.
const notOurs: Record<string, readonly string[]> = {
  // Other channels: web widget, e-mail, SMS.
  inbox: [
    ...['website_url', 'widget_color', 'website_token', 'web_widget_script', 'welcome_title', 'welcome_tagline'],
    ...['selected_feature_flags', 'reply_time', 'messaging_service_sid', 'phone_number', 'medium'],
  ],
  // The description has one attachment. The real answer has a list.
  message: ['attachment'],
  // Only with service level agreements, an enterprise feature that is not simulated.
  conversation: ['applied_sla', 'sla_events'],
  // The real answer has the short form of a user. The description shows the whole profile.
  user: [
    ...['access_token', 'avatar_url', 'display_name', 'message_signature', 'hmac_identifier', 'inviter_id'],
    ...['pubsub_token', 'ui_settings', 'uid', 'type', 'custom_attributes', 'accounts'],
  ],
  request: ['sla_policy_id', 'website_url', 'welcome_title', 'welcome_tagline', 'widget_color', 'avatar'],
  // Never set on attachments that the simulator can create.
  attachment: ['coordinates_lat', 'coordinates_long', 'fallback_title', 'meta'],
  // Only for bots and assistants.
  sender: ['description', 'created_at'],
  browser: ['city', 'country', 'country_code', 'created_at_ip', 'browser', 'referer', 'initiated_at'],
}
const ignored = new Set(Object.values(notOurs).flat())

/** Operations in which the contract contradicts the published description. The contract wins. */
const contradicted = new Set([
  // The description shows a list of contacts. The real answer is one contact.
  'POST /contacts',
  'POST /actions/contact_merge',
  // The description shows 204 and an id.
  'PUT /contacts/{}',
  // The description wraps the filter's answer like the list.
  'POST /conversations/filter',
  // The description shows the form of a message inside a conversation.
  'GET /conversations/{}/messages',
  'POST /conversations/{}/messages',
  // The description lacks the outer object.
  'POST /webhooks',
  // The description shows whole helpdesk inboxes. The real answer has slim ones.
  'GET /contacts/{}/contactable_inboxes',
])

function load(): Description {
  return JSON.parse(readFileSync(file, 'utf8')) as Description
}

/** All property names of an object schema, with references and unions resolved. */
function propertiesOf(schema: Schema, all: Description): Record<string, Schema> {
  if (schema.$ref) return propertiesOf(all.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, all)
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? [])]
  const inherited = parts.map((part) => propertiesOf(part, all))
  if (schema.items) return propertiesOf(schema.items, all)
  return Object.assign({}, ...inherited, schema.properties ?? {}) as Record<string, Schema>
}

function missing(theirs: Schema, ours: Schema, all: Description, path = ''): string[] {
  const have = propertiesOf(ours, all)
  return Object.entries(propertiesOf(theirs, all)).flatMap(([name, schema]) => {
    if (ignored.has(name)) return []
    const mine = have[name]
    if (!mine) return [`${path}${name}`]
    if (!overlap(typesOf(schema, all), typesOf(mine, all))) return [`${path}${name} of another type`]
    // An object without declared properties accepts every property.
    const isFree = Object.keys(propertiesOf(mine, all)).length === 0
    return isFree ? [] : missing(schema, mine, all, `${path}${name}.`)
  })
}

/** Treats number and integer as one type. A schema without a type accepts every type. */
function typesOf(schema: Schema, all: Description): string[] {
  if (schema.$ref) return typesOf(all.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, all)
  if (schema.anyOf) return schema.anyOf.flatMap((part) => typesOf(part, all))
  const { type = [] } = schema
  return [type].flat().map((one) => (one === 'integer' ? 'number' : one))
}

function overlap(theirs: string[], ours: string[]): boolean {
  // Our schema has null for values that are always empty. The description often omits null.
  const isEmpty = ours.every((one) => one === 'null')
  return theirs.length === 0 || isEmpty || theirs.some((one) => ours.includes(one))
}

function normal(path: string): string {
  return path
    .replace('/api/v1/accounts/{account_id}', '')
    .replace('/api/v1/accounts/:account_id', '')
    .replace(/\{[^}]+\}|:[a-z_]+/g, '{}')
    .replace(/(.)\/$/, '$1')
}

function pairs(all: Description): { name: string; operation: Operation; route: RouteFacts }[] {
  const published = Object.entries(all.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${normal(path)}`,
      operation,
    })),
  )
  return helpdesk.routes.flatMap((route) => {
    const name = `${route.method} ${normal(route.url)}`
    const operation = published.find((one) => one.name === name)?.operation
    return operation ? [{ name, operation, route }] : []
  })
}

test('the simulator has every published operation that a bridge could use', { skip }, () => {
  const ours = new Set(helpdesk.routes.map((route) => `${route.method} ${normal(route.url)}`))
  const wanted = Object.entries(load().paths)
    .filter(([path]) =>
      /^\/(public\/api\/v1\/inboxes|api\/v1\/accounts\/\{account_id\}\/(contacts|conversations|inboxes))/.test(path),
    )
    .flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((method) => method !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${normal(path)}`),
    )
  assert.deepEqual(
    wanted.filter((name) => !ours.has(name)),
    // Reports are not simulated.
    ['GET /conversations/{}/reporting_events'],
  )
})

test('the simulator accepts every published parameter', { skip }, () => {
  const all = load()
  for (const { name, operation, route } of pairs(all)) {
    const theirs = operation.requestBody?.content['application/json']?.schema
    if (!theirs) continue
    assert.ok(route.body, `${name} takes no body`)
    assert.deepEqual(missing(theirs, route.body, all), [], name)
  }
})

test("the simulator's answers have every published property", { skip }, () => {
  const all = load()
  let compared = 0
  for (const { name, operation, route } of pairs(all)) {
    const theirs = operation.responses['200']?.content?.['application/json']?.schema
    if (!theirs || !route.answer || contradicted.has(name)) continue
    compared++
    assert.deepEqual(missing(theirs, route.answer, all), [], name)
  }
  assert.ok(compared >= 20, `only ${compared} answers were compared`)
})
