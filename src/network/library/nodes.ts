// Reads the parts of a stanza, which is a tree of nodes.

import type { BinaryNode } from './library.ts'

/** All children of a node, or those with one tag. */
export function childrenOf({ content }: BinaryNode, tag?: string): BinaryNode[] {
  if (!Array.isArray(content)) return []
  return tag === undefined ? content : content.filter((child) => child.tag === tag)
}

/** The first child with this tag. */
export function childOf({ content }: BinaryNode, tag: string): BinaryNode | undefined {
  return Array.isArray(content) ? content.find((child) => child.tag === tag) : undefined
}
