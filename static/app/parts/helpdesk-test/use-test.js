// Tests a helpdesk. Nothing is stored.

import { call, path } from '../../lib/api.js'
import { useEffect, useState } from '../../vendor/hooks.js'

/** @typedef {import('../check-lines.js').Check} Check */
/** @typedef {{ id: number, name: string, used_by: string[] }} FoundInbox */
/** @typedef {{ ok: boolean, checks: Check[], inboxes: FoundInbox[] }} Report */
/** @typedef {{ report: Report | null, failure: Error | null, again: () => void }} TestState */

/** The keyboard passes over choices on its way to another one. */
const settleMs = 300

/**
 * Tests the helpdesk of a tenant, or that of the service, as soon as it is chosen.
 * @param {string} tag the owner tag; empty: the helpdesk of the service
 * @returns {TestState}
 */
export function useTest(tag) {
  const [state, setState] = useState(/** @type {Omit<TestState, 'again'>} */ ({ report: null, failure: null }))
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState({ report: null, failure: null })
    const target = tag === '' ? 'destinations/test' : path`tenants/${tag}/test`
    const timer = setTimeout(() => {
      call('POST', target, {}, controller.signal).then(
        (report) => setState({ report: /** @type {Report} */ (report), failure: null }),
        (failure) => {
          if (!controller.signal.aborted) setState({ report: null, failure })
        },
      )
    }, settleMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [tag, round])
  return { ...state, again: () => setRound((before) => before + 1) }
}
