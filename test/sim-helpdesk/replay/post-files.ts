// Posts messages with files, with every detail of the multipart body under the caller's control.

import type { Answer } from '../harness/desk-client.ts'
import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import { multipart, sampleBytes } from './sample-file.ts'
import type { Part } from './sample-file.ts'

/** The addresses of files that later recordings download, by the name of the file. */
export const urls: Record<string, string> = {}

export async function upload(bench: ReplayBench, parts: readonly Part[], chat = 83): Promise<Answer> {
  const { body, type } = multipart(parts)
  const response = await fetch(`${bench.helpdesk.url}/api/v1/accounts/1${bench.chat(chat)}/messages`, {
    method: 'POST',
    headers: { 'Api-Access-Token': bench.tokens['<admin token>'] ?? '', 'Content-Type': type },
    body,
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers, body: JSON.parse(text) as Answer['body'] }
}

export function file(name: string, type: string | null, size?: number, part = 'attachments[]'): Part {
  const kind = name.split('.').at(-1) ?? ''
  return { name: part, head: `filename="${name}"`, type, bytes: sampleBytes(kind, size) }
}

export const incoming = { name: 'message_type', value: 'incoming' }

export async function attachmentsOf(bench: ReplayBench, parts: readonly Part[]): Promise<Fields[]> {
  const { body } = await upload(bench, [incoming, ...parts])
  return asList(body['attachments']).map(asObject)
}
