// Looking into what the server said.

import type { BinaryNode } from './library.ts'

/** The parts of a node, all or those of one name. */
export function nodesOf({ content }: BinaryNode, tag?: string): BinaryNode[] {
  if (!Array.isArray(content)) return []
  return tag === undefined ? content : content.filter((one) => one.tag === tag)
}
