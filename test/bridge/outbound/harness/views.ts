// What tests see of the outbound bed: messages as the customer sees them, rows, metrics and the audit log.

import assert from 'node:assert/strict'
import type { OutgoingContent } from '../../../../src/core/network/outgoing-content.ts'
import type { OutboxPart } from '../../../../src/core/outbox.ts'
import type { OutboundBed } from './outbound-bed.ts'
import type { Customer, SentMessage } from './scripted-network.ts'

/** Undefined for what is no message: a reaction, an edit, a deletion. */
export function textOf(content: OutgoingContent): string | undefined {
  if (content.type === 'text') return content.text
  return content.type === 'file' ? (content.caption ?? undefined) : undefined
}

/** What a person sees of each message: the name of a file, with its caption, or the text. */
export function shownTo(bed: OutboundBed, customer: Customer = bed.bob): string[] {
  return bed.network.to(customer).map(({ content }) => {
    if (content.type !== 'file') return textOf(content) ?? content.type
    return `${content.file.fileName}${content.caption ? `: ${content.caption}` : ''}`
  })
}

/** The ids of the messages that were taken back. */
export function revoked(bed: OutboundBed): string[] {
  return bed.network.to(bed.bob).flatMap(({ content }) => (content.type === 'revoke' ? [content.target.id] : []))
}

/** The emojis of the reactions, in order; an empty one takes a reaction back. */
export function reactions(bed: OutboundBed): string[] {
  return bed.network.to(bed.bob).flatMap(({ content }) => (content.type === 'reaction' ? [content.emoji] : []))
}

export function quoteOf({ content }: SentMessage) {
  return 'quote' in content ? content.quote : null
}

export async function metricOf({ process }: OutboundBed, line: string): Promise<number> {
  const text = await process.metrics.exposition()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return Number(found?.slice(line.length + 1) ?? 0)
}

/** How often an event of an instance was announced. */
export function announced({ accounts }: OutboundBed, event: string, instance = 'n0'): number {
  return accounts.announced.filter((each) => each.event === event && each.instance === instance).length
}

/** The actions in the audit log, in order. */
export async function auditOf({ database }: OutboundBed): Promise<string[]> {
  const rows = await database.read(database.query.selectFrom('audit').select('action').orderBy('id'))
  return rows.map(({ action }) => action)
}

/** The rows of the outbox for a message of the helpdesk. */
export function rowsOf({ database }: OutboundBed, messageId: number) {
  return database.read(database.query.selectFrom('outbox').selectAll().where('message_id', '=', messageId))
}

/** The row of the outbox for a message of the helpdesk. */
export async function rowOf(bed: OutboundBed, messageId: number) {
  const rows = await rowsOf(bed, messageId)
  const [row] = rows
  const parts = JSON.parse(row?.parts ?? '[]') as OutboxPart[]
  return { ...row, count: rows.length, parts, states: parts.map(({ state }) => state) }
}

/** Until the helpdesk has confirmed that the message failed: the reason that it shows. */
export async function reported(bed: OutboundBed, id: number): Promise<string> {
  await bed.until('the failure is confirmed', async () => (await rowOf(bed, id)).shown === 'told')
  await bed.desk.settled()
  assert.equal(bed.desk.message(id).status, 'failed')
  return String(bed.desk.message(id).contentAttributes['external_error'])
}
