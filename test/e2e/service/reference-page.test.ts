// The page that describes the API: its contents, the types, and examples that the schemas accept.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fastify from 'fastify'
import { operationsOf } from '../../../src/http/reference/api-document.ts'
import type { ApiDocument, Operation } from '../../../src/http/reference/api-document.ts'
import { curlOf } from '../../../src/http/reference/curl.ts'
import { exampleAnswer, exampleBody, examplePath } from '../../../src/http/reference/examples.ts'
import type { Example } from '../../../src/http/reference/examples.ts'
import { openBrowser, withoutBrowser } from '../../harness/browser.ts'
import { Service } from '../../harness/service.ts'
import { packageVersion } from '../../harness/package-version.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** Checks examples in the way in which the service checks requests. Returns what is wrong, or nothing. */
async function wrongIn(examples: readonly (Example & { name: string })[]): Promise<string[]> {
  const wrong: string[] = []
  await using app = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
  app.get('/', (request) => {
    for (const { name, value, schema } of examples) {
      const check = request.compileValidationSchema(schema)
      if (!check(value)) wrong.push(`${name}: ${JSON.stringify(check.errors)}`)
    }
    return {}
  })
  assert.equal((await app.inject('/')).statusCode, 200)
  return wrong
}

describe('the reference page', () => {
  let service: Service
  let page: string
  let operations: readonly Operation[]
  before(async () => {
    service = await Service.start()
    page = (await service.get('/static/reference.html')).text
    operations = operationsOf((await service.get('/static/openapi.json')).body as ApiDocument)
  })
  after(() => service[Symbol.asyncDispose]())

  test('has a table of contents whose links lead somewhere', () => {
    const targets = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
    const [contents = ''] = /<nav [^]*?<\/nav>/.exec(page) ?? []
    const linked = [...contents.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
    assert.deepEqual(
      operations.map(({ id }) => id).filter((id) => !linked.includes(id)),
      [],
    )
    const everywhere = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
    assert.deepEqual(
      everywhere.filter((id) => !targets.has(id)),
      [],
    )
  })

  test('starts with linking an account', () => {
    const [first = ''] = /<main>[^]*?<\/section>/.exec(page) ?? []
    assert.match(first, /<h2>Link an account<\/h2>/)
    const calls = ['/api/instances&#34;', '/api/instances/shop/qr', '/api/instances/shop/wait-ready']
    assert.deepEqual(
      calls.filter((call) => !first.includes(call)),
      [],
    )
  })

  test('shows the type of every field, also of nested ones', () => {
    const article = (id: string) => new RegExp(`<article id="${id}">[^]*?</article>`).exec(page)?.[0] ?? ''
    assert.match(article('createInstance'), /<code>name<\/code>[^]*?string\s+<span class="required">required/)
    assert.match(article('getInstance'), /<code>qr\.expires_in_seconds<\/code>[^]*?integer or null/)
    assert.match(article('getUsage'), /<code>rows\[\]\.messages_in<\/code>[^]*?integer/)
    assert.match(article('getInstanceState'), /one of qr_pending, /)
    assert.match(article('bulkCreateInstances'), /1 to 500 items/)
  })

  test('has an example request and an example answer for every operation', () => {
    for (const operation of operations) {
      const article = new RegExp(`<article id="${operation.id}">[^]*?</article>`).exec(page)?.[0] ?? ''
      assert.match(article, /<pre tabindex="0"><code>curl /, operation.id)
      assert.match(article, /Answer <span class="status">2\d\d</, operation.id)
      assert.doesNotMatch(curlOf(operation), /[{}](?=[^']*$)/, `${operation.id} fills every parameter`)
    }
  })

  test('its examples fit the schemas', async () => {
    const examples = operations.flatMap((operation) => {
      const inPath = (operation.parameters ?? []).filter((each) => each.in === 'path')
      const values = examplePath(operation).split('/')
      const places = operation.path.split('/')
      return [
        ...[exampleBody(operation)].map((each) => each && { ...each, name: `request of ${operation.id}` }),
        ...[exampleAnswer(operation)].map((each) => each && { ...each, name: `answer of ${operation.id}` }),
        ...inPath.map(({ name, schema = {} }) => ({
          value: decodeURIComponent(values[places.indexOf(`{${name}}`)] ?? ''),
          schema,
          name: `${name} in the path of ${operation.id}`,
        })),
      ].filter((each) => each !== undefined)
    })
    assert.ok(examples.length > operations.length, 'there are examples')
    assert.deepEqual(await wrongIn(examples), [])
  })

  test('an example that does not fit is noticed', async () => {
    const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
    const [wrong] = await wrongIn([{ name: 'a body', value: { name: 1 }, schema }])
    assert.match(wrong ?? '', /^a body: .*must be string/)
  })

  test('needs no script and nothing from other servers', () => {
    assert.doesNotMatch(page, /<script|<style| style=| on\w+=/)
    const loaded = [...page.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, url = '']) => url)
    assert.deepEqual(
      loaded.filter((url) => /^(?:[a-z]+:|\/)/.test(url)),
      [],
    )
  })

  test(
    'fits wide and narrow screens, and its own policy lets it load everything',
    { skip: withoutBrowser },
    async () => {
      await using browser = await openBrowser()
      for (const width of [1280, 390]) {
        const view = await browser.newPage({ viewport: { width, height: 800 } })
        const problems: string[] = []
        view.on('console', (message) => problems.push(message.text()))
        view.on('response', (answer) => answer.status() >= 400 && problems.push(`${answer.url()}: ${answer.status()}`))
        // The tests before keep this process busy, and a busy service refuses requests.
        await waitUntil('the page is served', async () => {
          problems.length = 0
          return (await view.goto(`${service.url}/static/reference.html`))?.ok() === true
        })
        assert.equal(await view.title(), `Causeway ${packageVersion} · API reference`)
        const whole = await view.locator('html').evaluate((root: { scrollWidth: number }) => root.scrollWidth)
        assert.equal(whole, width, 'no part is wider than the screen')
        await view.getByRole('navigation').getByText('/instances/{name}/qr').click()
        assert.ok(await view.locator('#getQr').isVisible())
        assert.deepEqual(problems, [])
      }
    },
  )
})
