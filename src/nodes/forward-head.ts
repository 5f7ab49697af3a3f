// The head of a forwarded request as a header of the request between the nodes.

import type { ForwardHead } from '../core/nodes/owners.ts'

export function formatForwardHead(head: ForwardHead): string {
  return Buffer.from(JSON.stringify(head)).toString('base64url')
}

/** Undefined when the text is no head: a node of another version may have sent it. */
export function parseForwardHead(text: string): ForwardHead | undefined {
  const head = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
  return isHead(head) ? head : undefined
}

function isHead(value: unknown): value is ForwardHead {
  if (!isRecord(value)) return false
  const { instance, epoch, method, path, headers, client, waitedMs } = value
  return (
    [instance, method, path, client].every((part) => typeof part === 'string') &&
    [epoch, waitedMs].every((part) => typeof part === 'number') &&
    isRecord(headers) &&
    Object.values(headers).every((header) => [header].flat().every((each) => typeof each === 'string'))
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
