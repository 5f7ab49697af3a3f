// Says whether the picture of a contact is ours or an agent's, and whether it is still fresh.

import type { ContactPicture } from '../../../storage/stores/people/contact-picture-store.ts'

type Known = Pick<ContactPicture, 'thumbnail' | 'fileName'>

/** Clocks differ by some seconds without being wrong. */
const toleranceMs = 60_000

/**
 * Whether we uploaded the picture at this address. The address is the one that we stored after our upload. If the answer to
 * an upload was lost, we know no address; then the file name at its end is the one of our uploads. An agent's picture has
 * another name.
 */
export function isOurs(thumbnail: string, known: Known | undefined): boolean {
  if (!known) return false
  return thumbnail === known.thumbnail || (known.fileName !== null && fileNameOf(thumbnail) === known.fileName)
}

/** How long the picture is still fresh; 0 when it is not. A time in the future comes from a clock that was ahead. */
export function freshForMs(checkedAt: number, now: number, ttlMs: number): number {
  const age = now - checkedAt
  return age < -toleranceMs ? 0 : Math.max(0, ttlMs - Math.max(0, age))
}

function fileNameOf(thumbnail: string): string {
  const path = thumbnail.split(/[?#]/, 1)[0] ?? ''
  return path.slice(path.lastIndexOf('/') + 1)
}
