// Loads the nodes, and loads them again every few seconds: no event tells of them.

import { useReload } from '../../lib/use-reload.js'
import { useEffect, useState } from '../../vendor/hooks.js'

/**
 * @typedef {{
 *   id: string, name: string, state: 'active' | 'draining' | 'dead', build: string, capacity: number, held: number,
 *   share: number, joined_at: string, is_cell: boolean, is_self: boolean, settings_differ: boolean,
 * }} NodeRow
 */
/**
 * @typedef {{
 *   instance: string, from: string | null, to: string | null, reason: 'death' | 'hand_over' | 'placed', at: string,
 * }} Move
 */
/**
 * @typedef {{
 *   nodes: NodeRow[], totals: { instances: number, free: number, quarantined: string[] }, moves: Move[],
 * }} Nodes as GET /api/nodes shows them
 */

const everyMs = 5000

/** @returns {import('../../lib/use-load.js').Loaded<Nodes>} */
export function useNodes() {
  const [round, setRound] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setRound((before) => before + 1)
    }, everyMs)
    return () => {
      clearInterval(timer)
    }
  }, [])
  return useReload('nodes', round, 0)
}
