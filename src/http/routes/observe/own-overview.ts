// What one node knows: the instances that it holds, and what an operator must look at there. Nodes ask each other for it.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { hasFields } from '../../told-rows.ts'
import { Need } from './needs-you.ts'
import { OverviewRow } from './overview-row.ts'

export const ownOverviewParts = {
  needs_you: Type.Array(Need, { description: 'What an operator must look at, the most urgent first' }),
  instances: Type.Array(OverviewRow),
}

export type OwnOverview = { needs_you: Static<typeof Need>[]; instances: Static<typeof OverviewRow>[] }

/** False for the answer of a node of another version that leaves out what this one shows. */
export function isOwnOverview(answer: unknown): answer is OwnOverview {
  const { needs_you, instances } = (answer ?? {}) as Partial<Record<keyof OwnOverview, unknown>>
  return isListOf(Need, needs_you) && isListOf(OverviewRow, instances)
}

function isListOf({ properties }: { properties: object }, list: unknown): boolean {
  return Array.isArray(list) && list.every((each) => hasFields(properties, each))
}
