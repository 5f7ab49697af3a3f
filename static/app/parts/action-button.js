// A button that changes something through the API. It shows that it works, and why it failed.

import { ApiError } from '../lib/api.js'
import { html } from '../lib/html.js'
import { useTexts } from '../lib/languages.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'
import { texts } from './texts.js'

/** The sentence of a failure: that of the API, or that there was no answer. @returns {(error: Error) => string} */
export function useSentence() {
  const t = useTexts(texts)
  return (error) => (error instanceof ApiError && error.status === 0 ? t.unreachable : error.message)
}

/**
 * Runs one call at a time.
 * @returns {{ isBusy: boolean, failure: Error | null, run: (work: () => Promise<unknown>) => void }}
 */
export function useAction() {
  const [state, setState] = useState(
    /** @type {{ isBusy: boolean, failure: Error | null }} */ ({ isBusy: false, failure: null }),
  )
  const isBusy = useRef(false)
  const isShown = useRef(true)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  const run = async (/** @type {() => Promise<unknown>} */ work) => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ isBusy: true, failure: null })
    /** @type {Error | null} */
    let failure = null
    try {
      await work()
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    }
    isBusy.current = false
    if (isShown.current) setState({ isBusy: false, failure })
  }
  return { ...state, run: (work) => void run(work) }
}

/** Why the last call failed. @param {{ failure: Error | null }} props */
export function Failure({ failure }) {
  const sentenceOf = useSentence()
  return html`<p role="alert" class="bad failure">${failure && `✕ ${sentenceOf(failure)}`}</p>`
}

/**
 * @param {{
 *   run: () => Promise<unknown>,
 *   kind?: 'quiet' | 'danger',
 *   disabled?: boolean,
 *   children: import('../lib/html.js').Children,
 * }} props
 */
export function ActionButton({ run, kind, disabled = false, children }) {
  const t = useTexts(texts)
  const action = useAction()
  return html`<span class="action">
    <button
      type="button"
      class=${kind}
      disabled=${disabled}
      aria-disabled=${action.isBusy ? 'true' : null}
      aria-busy=${action.isBusy ? 'true' : null}
      onClick=${() => action.run(run)}
    >
      ${action.isBusy ? t.working : children}
    </button>
    <${Failure} failure=${action.failure} />
  </span>`
}
