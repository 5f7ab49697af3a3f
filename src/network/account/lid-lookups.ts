// Looks up the LIDs of phone numbers, from memory where they are known. Every step of every message asks for them.

import type { Jid } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { jidDecode } from '../library/library.ts'
import type { LidLookup, SignalRepositoryWithLIDStore } from '../library/library.ts'

/** How long a missing LID is remembered. The library asks the server at every load of a session without one. */
const noLidMs = 60_000
const pairsKept = 1_000
const pairMs = 24 * 60 * 60 * 1000
/** The domains of phone numbers, and those of their LIDs. */
const lidDomains: Readonly<Record<string, string>> = { 's.whatsapp.net': 'lid', hosted: 'hosted.lid' }

/** To be called before a step, because it may ask the server. */
export function resolveLid({ lidMapping }: SignalRepositoryWithLIDStore, jid: Jid): Promise<string | null> {
  return lidMapping.getLIDForPN(jid).catch(() => null)
}

export function rememberMisses(lookup: LidLookup, clock: Clock): LidLookup {
  const withoutLid = new BoundedMap<true>({ clock, max: pairsKept, ttlMs: noLidMs })
  return async (pns) => {
    const unknown = pns.filter((pn) => !withoutLid.has(pn))
    const found = unknown.length > 0 ? await lookup(unknown) : []
    for (const pn of unknown) if (!found?.some((pair) => pair.pn === pn)) withoutLid.set(pn, true)
    return found
  }
}

/**
 * The library's own memory of pairs is never trimmed and keeps a timer for each pair. What is in memory is answered at once: the
 * library's own lookup of a known pair takes as long as an encryption.
 */
export function answerFromMemory({ lidMapping }: SignalRepositoryWithLIDStore, clock: Clock): void {
  const mappingCache = new BoundedMap<string>({ clock, max: pairsKept, ttlMs: pairMs })
  const ask = lidMapping.getLIDForPN.bind(lidMapping)
  const getLIDForPN = (pn: Jid) => {
    const lid = lidFrom(mappingCache, pn)
    return lid === undefined ? ask(pn) : Promise.resolve(lid)
  }
  Object.assign(lidMapping, { mappingCache, getLIDForPN })
}

/** Undefined when it is not in memory. */
function lidFrom(pairs: BoundedMap<string>, pn: Jid): Jid | undefined {
  const { user = '', device = 0, server = '' } = jidDecode(pn) ?? {}
  const domain = lidDomains[server]
  const lid = domain === undefined ? undefined : pairs.get(`pn:${user}`)
  return lid === undefined ? undefined : `${lid}${device === 0 ? '' : `:${device}`}@${domain}`
}
