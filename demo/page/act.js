// What a click does, and what the demo shows: the actions and the events of the demo's own server.

import { useEffect, useState } from '../../static/app/vendor/hooks.js'

/** @typedef {import('../view.ts').Snapshot} Snapshot */
/** @typedef {(name: string, fields?: Record<string, unknown>) => Promise<void>} Act */

/** @type {Act} */
export async function act(name, fields = {}) {
  const response = await fetch(`/actions/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })
  if (response.ok) return
  const { error } = /** @type {{ error: string }} */ (await response.json())
  throw new Error(error)
}

/** What the demo shows now. Null until the first event has come. */
export function useSnapshot() {
  const [snapshot, setSnapshot] = useState(/** @type {Snapshot | null} */ (null))
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const source = new EventSource('/events')
    source.addEventListener('message', ({ data }) => {
      setOver(false)
      setSnapshot(/** @type {Snapshot} */ (JSON.parse(data)))
    })
    source.addEventListener('error', () => {
      setOver(true)
    })
    return () => {
      source.close()
    }
  }, [])
  return { snapshot, isOver }
}
