// Loads the overview once, follows the events, and loads it again when something may need the operator.

import { get } from '../../lib/api.js'
import { useLive } from '../../lib/live.js'
import { useEffect, useMemo, useRef, useState } from '../../vendor/hooks.js'
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
/** A message that passes may mean that something is cured. No event says so, and messages pass all the time. */
const cureMs = 5000

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

/**
 * Runs the work some time after the first call. Calls in between add nothing.
 * @param {() => void} work
 * @param {number} ms
 * @returns {() => void}
 */
function useLater(work, ms) {
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined))
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      work()
    }, ms)
  }
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
    reload()
    return end
  }, [reload, end])
  useLive(['hello', 'reset', 'destination', 'alert'], reload, [reload])
  useLive(
    ['delivery'],
    ({ status }) => {
      if (status !== 'delivered') reload()
    },
    [reload],
  )
  const lookLater = useLater(reload, cureMs)
  const hasNeeds = state.data !== null && state.data.length > 0
  useLive(
    ['instance'],
    (event) => {
      if (store.take(event)) reload()
      else if (hasNeeds) lookLater()
    },
    [store, reload, hasNeeds],
  )
  return { store, needs: { ...state, reload } }
}
