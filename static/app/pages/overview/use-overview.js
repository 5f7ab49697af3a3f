// Loads the overview once, follows the events, and loads it again when something may need the operator.

import { get } from '../../lib/api.js'
import { useLive } from '../../lib/live.js'
import { useEffect, useMemo, useState } from '../../vendor/hooks.js'
import { RowStore } from './row-store.js'

/**
 * @typedef {{
 *   kind: string, instance: string | null, destination: string | null, sentence: string, cure: string,
 *   since: string | null,
 * }} Need
 */
/** @typedef {{ needs_you: Need[], instances: import('./row-store.js').Row[] }} Overview */

/** Warnings of the log may come in crowds. */
const restMs = 1000

/**
 * Runs the work at once. Calls during the work and the rest after it lead to one more run.
 * @param {(signal: AbortSignal) => Promise<void>} work
 */
function paced(work) {
  const controller = new AbortController()
  let isResting = false
  let isWanted = false
  const run = () => {
    isWanted = true
    if (isResting || controller.signal.aborted) return
    isResting = true
    isWanted = false
    void work(controller.signal).finally(() => {
      setTimeout(() => {
        isResting = false
        if (isWanted) run()
      }, restMs)
    })
  }
  const end = () => {
    controller.abort()
  }
  return { run, end }
}

/** @typedef {import('../../lib/use-load.js').Loaded<Need[]>} LoadedNeeds */

/** @returns {{ store: RowStore, needs: LoadedNeeds }} */
export function useOverview() {
  const store = useMemo(() => new RowStore(), [])
  const [state, setState] = useState(
    /** @type {{ data: Need[] | null, error: Error | null }} */ ({ data: null, error: null }),
  )
  const { run: reload, end } = useMemo(
    () =>
      paced(async (signal) => {
        store.beginLoad()
        try {
          const overview = /** @type {Overview} */ (await get('overview', signal))
          store.replace(overview.instances)
          setState({ data: overview.needs_you, error: null })
        } catch (error) {
          if (!signal.aborted) setState((before) => ({ data: before.data, error: /** @type {Error} */ (error) }))
        }
      }),
    [store],
  )
  useEffect(() => {
    // A page in the background may have slept.
    const look = () => {
      if (document.visibilityState === 'visible') reload()
    }
    document.addEventListener('visibilitychange', look)
    reload()
    return () => {
      document.removeEventListener('visibilitychange', look)
      end()
    }
  }, [reload, end])
  useLive(['hello', 'reset', 'destination', 'alert'], reload, [reload])
  useLive(
    ['delivery'],
    ({ status }) => {
      if (status !== 'delivered') reload()
    },
    [reload],
  )
  useLive(
    ['instance'],
    (event) => {
      if (store.take(event)) reload()
    },
    [store, reload],
  )
  return { store, needs: { ...state, reload } }
}
