// The events of the service. Components listen by kind; a lost connection is taken up again where it ended.

import { useEffect, useState } from '../vendor/hooks.js'
import { apiUrl, get } from './api.js'

/** @typedef {'hello' | 'instance' | 'qr' | 'destination' | 'job' | 'delivery' | 'alert' | 'reset'} LiveKind */
/** @typedef {(data: never) => void} LiveListener */
/**
 * lost: the service does not answer. refused: it answers, but sends no events to this page.
 * @typedef {'open' | 'lost' | 'refused'} Connection
 */

/** @type {readonly LiveKind[]} */
const kinds = ['hello', 'instance', 'qr', 'destination', 'job', 'delivery', 'alert', 'reset']
const retryMs = 5000
/** A browser opens about six connections to a service. A page that is hidden for so long gives its own to other pages. */
const hiddenMs = 10_000

/** @type {Map<LiveKind, Set<LiveListener>>} */
const listeners = new Map()
/** @type {Set<(connection: Connection) => void>} */
const connectionListeners = new Set()
/** @type {Connection} */
let connection = 'open'
/** @type {EventSource | null} */
let source = null
let isWanted = false
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retry
/** @type {ReturnType<typeof setTimeout> | undefined} */
let rest

export function connectLive() {
  isWanted = true
  document.addEventListener('visibilitychange', followVisibility)
  open()
}

export function disconnectLive() {
  isWanted = false
  document.removeEventListener('visibilitychange', followVisibility)
  close()
  setConnection('open')
}

function followVisibility() {
  clearTimeout(rest)
  if (document.visibilityState === 'visible') open()
  else rest = setTimeout(close, hiddenMs)
}

function close() {
  clearTimeout(retry)
  clearTimeout(rest)
  source?.close()
  source = null
}

function open() {
  if (source || !isWanted || document.visibilityState !== 'visible') return
  clearTimeout(retry)
  const opened = new EventSource(apiUrl('events'))
  source = opened
  opened.addEventListener('hello', () => {
    setConnection('open')
  })
  opened.addEventListener('error', () => {
    if (source !== opened) return
    // The browser tries again by itself after a lost connection. A refusal ends the source for good.
    if (opened.readyState !== EventSource.CLOSED) {
      setConnection('lost')
      return
    }
    source = null
    void retryLater()
  })
  for (const kind of kinds) {
    opened.addEventListener(kind, (event) => {
      const data = /** @type {never} */ (JSON.parse(/** @type {MessageEvent<string>} */ (event).data))
      for (const listener of listeners.get(kind) ?? []) listener(data)
    })
  }
}

/** The browser does not tell why the stream was refused. If the session has ended, this request tells the dashboard. */
async function retryLater() {
  const found = await get('version').then(
    () => /** @type {const} */ ('refused'),
    () => /** @type {const} */ ('lost'),
  )
  if (source || !isWanted) return
  setConnection(found)
  clearTimeout(retry)
  retry = setTimeout(open, retryMs)
}

/** @param {Connection} value */
function setConnection(value) {
  if (connection === value) return
  connection = value
  for (const listener of connectionListeners) listener(value)
}

/**
 * Calls the listener for every event of these kinds while the component is shown. After a `reset` events were missed: what
 * was loaded before may be old. The same holds for a `hello`: the stream may be a new one, which repeats nothing.
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

/** @returns {Connection} */
export function useConnection() {
  const [value, setValue] = useState(connection)
  useEffect(() => {
    // It may have changed since the page was drawn.
    setValue(connection)
    connectionListeners.add(setValue)
    return () => {
      connectionListeners.delete(setValue)
    }
  }, [])
  return value
}
