// Files that an agent attaches to a message at the scripted helpdesk.

import type { Extra } from './agent-desk.ts'
import type { OutboundBed } from './outbound-bed.ts'

export type AgentFile = { name: string; bytes: Uint8Array; type: string }

export function textFile(name: string, text = name): AgentFile {
  return { name, bytes: Buffer.from(text), type: 'text/plain' }
}

/** The agent writes a message with files in Bob's conversation; resolves with the id when the callback is answered. */
export async function attach(
  bed: OutboundBed,
  content: string,
  files: readonly AgentFile[],
  extra: Extra = {},
): Promise<number> {
  return bed.write(content, { ...extra, attachments: files.map((file) => stored(bed, file)) })
}

/** An attachment as callbacks name it. */
export function stored({ helpdesk }: OutboundBed, { name, bytes, type }: AgentFile): object {
  const data_url = `http://desk/files/${helpdesk.newId()}/${name}`
  helpdesk.files.set(data_url, { bytes, type })
  return { data_url, content_type: type, file_size: bytes.length }
}
