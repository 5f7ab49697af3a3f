// Every route says which node answers it, and the forwarding does what it says.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doors } from '../harness/doors.ts'
import { Service } from '../harness/service.ts'

type Document = { paths: Record<string, Record<string, { responses: object }>> }

const callback = 'post /api/instances/{name}/webhook'

test('every route names the node that answers it', async () => {
  await using service = await Service.start()
  const { paths } = (await service.get('/static/openapi.json')).body as Document
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({ route: `${method} ${path}`, responses })),
  )
  assert.deepEqual(routes.map(({ route }) => route).sort(), [...doors.keys()].sort())
  for (const { route, responses } of routes) {
    // The answer of a node that asks the owner in vain. A callback is stored by that node.
    const isHandedOver = '504' in responses || route === callback
    assert.equal(isHandedOver, doors.get(route)?.startsWith('owner'), route)
  }
})
