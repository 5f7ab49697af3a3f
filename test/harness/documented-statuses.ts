// Checks every answer of a test against the OpenAPI document: a status that a route gives is in the document.

import assert from 'node:assert/strict'
import { requestFrom } from './http-request.ts'

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }
type Operation = { method: string; path: RegExp; statuses: readonly string[] }

/** The document is the same for every service of a run. */
let known: readonly Operation[] | undefined

export async function assertDocumented(
  base: string,
  asked: { method: string; path: string; status: number },
): Promise<void> {
  if (!asked.path.startsWith('/api/')) return
  known ??= await readOperations(base)
  const [path = ''] = asked.path.split('?')
  const operation = known?.find((each) => each.method === asked.method && each.path.test(path))
  if (!operation) return
  const { statuses } = operation
  assert.ok(
    statuses.includes(String(asked.status)),
    `${asked.method} ${path} gave ${asked.status}; documented are ${statuses.join(', ')}`,
  )
}

/** Undefined while the service refuses to answer. */
async function readOperations(base: string): Promise<readonly Operation[] | undefined> {
  const { status, body } = await requestFrom(base, 'GET', '/static/openapi.json')
  if (status !== 200) return undefined
  const { paths } = body as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      statuses: Object.keys(responses),
    })),
  )
  // A fixed path such as …/bulk comes before one with a parameter in that place.
  return operations.sort((one, other) => wildcards(one) - wildcards(other))
}

function wildcards({ path }: Operation): number {
  return path.source.split('[^').length
}
