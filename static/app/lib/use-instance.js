// Follows one instance: its row of the overview, and the events about it.

import { get } from './api.js'
import { useLive } from './live.js'
import { useCallback, useEffect, useRef, useState } from '../vendor/hooks.js'

/** @typedef {import('../parts/state-badge.js').State} State */
/**
 * @typedef {{
 *   name: string, owner_tag: string, state: State, phone: string, qr_available: boolean,
 *   last_error_code: string | null, last_error: string | null, ready_at: string | null,
 *   last_in_at: string | null, last_out_at: string | null,
 *   outbox_pending: number, inbox_pending: number, parked: number,
 *   ban_level: 'ok' | 'low' | 'moderate' | 'high', pending_logout: boolean,
 * }} Row as GET /api/overview shows it
 */
/**
 * The row is undefined if there is no such instance.
 * @typedef {{ data: { row: Row | undefined } | null, error: Error | null, reload: () => void }} FollowedInstance
 */

/** @param {string} name @returns {FollowedInstance} */
export function useInstance(name) {
  const [state, setState] = useState(
    /** @type {Pick<FollowedInstance, 'data' | 'error'>} */ ({ data: null, error: null }),
  )
  /** Counts loads and events: an answer that was asked for before the newest of them is old. */
  const newest = useRef(0)
  const reload = useCallback(() => {
    newest.current += 1
    const asked = newest.current
    get('overview').then(
      (overview) => {
        if (asked !== newest.current) return
        const { instances } = /** @type {{ instances: Row[] }} */ (overview)
        setState({ data: { row: instances.find((row) => row.name === name) }, error: null })
      },
      (error) => {
        if (asked === newest.current) setState(({ data }) => ({ data, error }))
      },
    )
  }, [name])
  useEffect(reload, [reload])
  useLive(['hello', 'reset'], reload, [reload])
  useLive(
    ['instance'],
    (/** @type {Row | { name: string, deleted: true }} */ event) => {
      if (event.name !== name) return
      newest.current += 1
      setState({ data: { row: 'deleted' in event ? undefined : event }, error: null })
    },
    [name],
  )
  return { ...state, reload }
}
