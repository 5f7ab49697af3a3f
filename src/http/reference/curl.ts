// Writes a request as the command that a person types.

import { bodyOf, formType, successOf } from './api-document.ts'
import type { Operation } from './api-document.ts'
import { exampleBody, examplePath } from './examples.ts'

/** `body` replaces the example body of the operation. */
export function curlOf(operation: Operation, body: unknown = exampleBody(operation)?.value): string {
  const { method } = operation
  const files = fileFieldsOf(operation)
  const implied = body === undefined && files.length === 0 ? 'GET' : 'POST'
  const answer = successOf(operation).body
  const parts = [
    `curl ${method === implied ? '' : `-X ${method} `}"$SERVICE${examplePath(operation)}"`,
    operation.security?.length === 0 ? '' : '-H "Authorization: Bearer $TOKEN"',
    body === undefined ? '' : `-H 'Content-Type: application/json'`,
    body === undefined ? '' : `-d ${quoted(JSON.stringify(body))}`,
    ...files.map((field) => `-F ${field}=@${field}.jpg`),
    answer?.schema.format === 'binary' ? '--fail --output qr.png' : '',
  ]
  return parts.filter((part) => part !== '').join(' \\\n  ')
}

/** The fields of a form; each is a file. */
function fileFieldsOf({ requestBody }: Operation): string[] {
  const body = bodyOf(requestBody)
  return body?.type === formType ? Object.keys(body.schema.properties ?? {}) : []
}

/** A text in single quotes, as a POSIX shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
