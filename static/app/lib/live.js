// The events of the service. Components listen by kind; a lost connection is taken up again where it ended.

import { useEffect, useState } from '../vendor/hooks.js'
import { apiUrl, get } from './api.js'

/** @typedef {'hello' | 'instance' | 'qr' | 'destination' | 'job' | 'delivery' | 'alert' | 'reset'} LiveKind */
/** @typedef {(data: never) => void} LiveListener */

/** @type {Map<LiveKind, Set<LiveListener>>} */
const listeners = new Map()
/** @type {Set<(isOnline: boolean) => void>} */
const onlineListeners = new Set()
/** @type {EventSource | null} */
let source = null
/** Waits to open the source again. @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let isOnline = true

/** @type {readonly LiveKind[]} */
const kinds = ['hello', 'instance', 'qr', 'destination', 'job', 'delivery', 'alert', 'reset']

export function connectLive() {
  if (source) return
  const opened = new EventSource(apiUrl('events'))
  source = opened
  opened.addEventListener('hello', () => {
    setOnline(true)
  })
  opened.addEventListener('error', () => {
    setOnline(false)
    // A refusal ends the source for good: the browser tries again by itself only after a lost connection.
    if (opened.readyState !== EventSource.CLOSED || source !== opened) return
    source = null
    timer = setTimeout(connectLive, 5000)
    // A source does not say why it was refused. If the session has ended, the answer to any request leads to the sign-in.
    get('version').catch(() => undefined)
  })
  for (const kind of kinds) {
    opened.addEventListener(kind, (event) => {
      const data = /** @type {never} */ (JSON.parse(/** @type {MessageEvent<string>} */ (event).data))
      for (const listener of listeners.get(kind) ?? []) listener(data)
    })
  }
}

export function disconnectLive() {
  clearTimeout(timer)
  source?.close()
  source = null
  setOnline(true)
}

/** @param {boolean} value */
function setOnline(value) {
  if (isOnline === value) return
  isOnline = value
  for (const listener of onlineListeners) listener(value)
}

/**
 * Calls the listener for every event of these kinds while the component is shown. After a `reset` events were missed: what
 * was loaded before may be old. The same holds for what was loaded before the first `hello`.
 * @param {readonly LiveKind[]} wanted
 * @param {LiveListener} listener
 * @param {readonly unknown[]} inputs as of useEffect
 */
export function useLive(wanted, listener, inputs) {
  useEffect(() => {
    for (const kind of wanted) {
      const set = listeners.get(kind) ?? new Set()
      listeners.set(kind, set.add(listener))
    }
    return () => {
      for (const kind of wanted) listeners.get(kind)?.delete(listener)
    }
  }, inputs)
}

/** False while the service does not answer. */
export function useOnline() {
  const [value, setValue] = useState(isOnline)
  useEffect(() => {
    onlineListeners.add(setValue)
    return () => {
      onlineListeners.delete(setValue)
    }
  }, [])
  return value
}
