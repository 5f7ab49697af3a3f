// Loads something from the API for a component, and loads it again on demand.

import { useCallback, useEffect, useState } from '../vendor/hooks.js'
import { get } from './api.js'

/**
 * @template T
 * @typedef {{ data: T | null, error: Error | null, reload: () => void }} Loaded
 */

/**
 * The last data stay on the page while they are loaded again.
 * @template T
 * @param {string} target below /api
 * @returns {Loaded<T>}
 */
export function useLoad(target) {
  const [state, setState] = useState(
    /** @type {{ data: T | null, error: Error | null }} */ ({ data: null, error: null }),
  )
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    get(target, controller.signal).then(
      (data) => {
        setState({ data: /** @type {T} */ (data), error: null })
      },
      (error) => {
        if (!controller.signal.aborted) setState((before) => ({ data: before.data, error }))
      },
    )
    return () => {
      controller.abort()
    }
  }, [target, round])
  const reload = useCallback(() => {
    setRound((before) => before + 1)
  }, [])
  return { ...state, reload }
}
