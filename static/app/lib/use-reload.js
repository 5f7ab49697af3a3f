// Loads something again when other facts on the page change, but not again and again while they change.

import { useEffect, useRef } from '../vendor/hooks.js'
import { useLive } from './live.js'
import { useLoad } from './use-load.js'

const pauseMs = 2000

/**
 * Like useLoad. A change of `facts` loads again: at once, or at the end of the pause after the load before.
 * @template T
 * @param {string} target below /api
 * @param {string | number | null} [facts]
 * @param {number} [leastMs] the pause between two loads
 * @returns {import('./use-load.js').Loaded<T>}
 */
export function useReload(target, facts = null, leastMs = pauseMs) {
  /** @type {import('./use-load.js').Loaded<T>} */
  const loaded = useLoad(target)
  const { reload } = loaded
  const seen = useRef({ facts, at: Date.now() })
  useEffect(() => {
    if (seen.current.facts === facts) return undefined
    const load = () => {
      seen.current = { facts, at: Date.now() }
      reload()
    }
    const timer = setTimeout(load, Math.max(0, seen.current.at + leastMs - Date.now()))
    return () => {
      clearTimeout(timer)
    }
  }, [facts, reload, leastMs])
  useLive(['hello', 'reset'], reload, [reload])
  return loaded
}
