// Builds and reads stanzas, the protocol's nodes, independently of their binary encoding.
import type { BinaryNode } from '../library.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type Stanza = BinaryNode
export type Attributes = Record<string, string | undefined>

export function stanza(tag: string, attributes: Attributes = {}, content?: Stanza[] | Uint8Array | string): Stanza {
  const attrs: Record<string, string> = {}
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) attrs[name] = value
  return content === undefined ? { tag, attrs } : { tag, attrs, content }
}

export function allChildren(node: Stanza | undefined): Stanza[] {
  return Array.isArray(node?.content) ? node.content : []
}

export function children(node: Stanza | undefined, tag: string): Stanza[] {
  return allChildren(node).filter((one) => one.tag === tag)
}

export function child(node: Stanza | undefined, tag: string): Stanza | undefined {
  return allChildren(node).find((one) => one.tag === tag)
}

/** The content itself, without a copy: all devices that get one stanza get one object. */
export function bytesOf(node: Stanza | undefined): Buffer | undefined {
  const content = node?.content
  if (typeof content === 'string') return Buffer.from(content)
  if (content === undefined || Array.isArray(content)) return undefined
  return content instanceof Buffer ? content : Buffer.from(content)
}

export function requiredBytes(node: Stanza | undefined, what: string): Buffer {
  const bytes = bytesOf(node)
  if (!bytes) throw new Error(`the stanza carries no ${what}`)
  // What is kept for long must not keep the whole stanza.
  return Buffer.from(bytes)
}

export function textOf(node: Stanza | undefined): string | undefined {
  return bytesOf(node)?.toString('utf8')
}

/** Describes a stanza in one line for logs and errors: tags, attributes and the size of the content. */
export function describeStanza(node: Stanza): string {
  const attributes = Object.entries(node.attrs).map(([name, value]) => ` ${name}="${value}"`)
  const open = `<${node.tag}${attributes.join('')}`
  if (node.content === undefined) return `${open}/>`
  if (!Array.isArray(node.content)) return `${open}>(${node.content.length} bytes)</${node.tag}>`
  return `${open}>${node.content.map(describeStanza).join('')}</${node.tag}>`
}

export function unixSeconds(clock: Pick<SimClock, 'now'>): string {
  return String(Math.floor(clock.now() / 1000))
}
