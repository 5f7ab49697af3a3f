// The three numbers of a client version: reads them from texts and compares them.

import type { WAVersion } from '../library/library.ts'

const form = /^(\d{1,10})\.(\d{1,10})\.(\d{1,10})$/
const mark = 'client_revision'
/** What follows the mark. The page keeps its data as JSON inside a string, so the quotes may have backslashes. */
const revision = /^\\?"\s{0,8}:\s{0,8}(\d{1,10})(?!\d)/
/** Enough for what follows the mark. */
const lookedAt = 40
/** The protocol carries a version in 32 bits. */
const largest = 2 ** 32 - 1

export function formatVersion(version: Readonly<WAVersion>): string {
  return version.join('.')
}

export function parseVersion(text: string): WAVersion | undefined {
  const numbers = form.exec(text)?.slice(1).map(Number)
  return numbers?.every((number) => number <= largest) ? (numbers as WAVersion) : undefined
}

/** Above 0 when the first version is the higher one. */
export function compareVersions(one: Readonly<WAVersion>, other: Readonly<WAVersion>): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}

/** The revision that the network's page names; undefined when it names none. Looks at each character a few times. */
export function findRevision(page: string): number | undefined {
  for (let at = page.indexOf(mark); at !== -1; at = page.indexOf(mark, at + mark.length)) {
    const start = at + mark.length
    const [, digits] = revision.exec(page.slice(start, start + lookedAt)) ?? []
    if (digits !== undefined && Number(digits) <= largest) return Number(digits)
  }
  return undefined
}
