// The page that the address names: everything after `#`.

import { useEffect, useState } from '../vendor/hooks.js'

/** @typedef {{ path: string, params: Record<string, string> }} Place */

/** @returns {string} such as `/instances/a` */
export function currentPath() {
  return location.hash.replace(/^#/, '') || '/'
}

/** @param {string} path */
export function goTo(path) {
  location.hash = path
}

/**
 * Goes on after some work, unless the visitor has gone to another page meanwhile.
 * @param {string} from where the work began
 * @param {string} path
 */
export function goOn(from, path) {
  if (currentPath() === from) goTo(path)
}

/** @returns {string} */
export function usePath() {
  const [path, setPath] = useState(currentPath())
  useEffect(() => {
    const follow = () => {
      setPath(currentPath())
    }
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
    }
  }, [])
  return path
}

/**
 * The parameters of a path that has this pattern, or null: `/instances/:name` reads `/instances/a`.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
export function match(pattern, path) {
  const wanted = pattern.split('/')
  const given = path.split('?', 1)[0]?.split('/') ?? []
  if (wanted.length !== given.length) return null
  /** @type {Record<string, string>} */
  const params = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decode(value)
    else if (part !== value) return null
  }
  return params
}

/** @param {string} value */
function decode(value) {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
