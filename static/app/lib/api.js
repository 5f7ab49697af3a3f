// Calls the API of the service. The address is relative, so that the pages also work behind a proxy with a path of its own.

const api = new URL('../api/', document.baseURI)

/** A refusal of the service, or no answer at all (status 0). */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** @type {Set<() => void>} */
const signedOutListeners = new Set()

/**
 * The listener hears of a session that has ended.
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onSignedOut(listener) {
  signedOutListeners.add(listener)
  return () => {
    signedOutListeners.delete(listener)
  }
}

/** @param {string} path below /api, such as `instances/a/qr` */
export function apiUrl(path) {
  return new URL(path, api).href
}

/** Each part of a path as the API reads it. @param {TemplateStringsArray} strings @param {...string} values */
export function path(strings, ...values) {
  return String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(value)))
}

/**
 * @template T
 * @param {string} method
 * @param {string} target
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function call(method, target, body, signal) {
  /** @type {Response} */
  let response
  try {
    response = await fetch(apiUrl(target), {
      method,
      // The service accepts the cookie for a change only together with a header that no other site can send.
      headers: { 'x-causeway-dashboard': '1', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'UNREACHABLE', String(error))
  }
  if (response.ok) return /** @type {T} */ (await readAnswer(response, signal))
  if (response.status === 401) for (const listener of signedOutListeners) listener()
  throw await readRefusal(response)
}

/** @template T @param {string} target @param {AbortSignal} [signal] @returns {Promise<T>} */
export function get(target, signal) {
  return call('GET', target, undefined, signal)
}

/**
 * An answer that breaks off is no answer.
 * @param {Response} response
 * @param {AbortSignal} [signal]
 * @returns {Promise<unknown>}
 */
async function readAnswer(response, signal) {
  try {
    return await response.json()
  } catch (error) {
    if (signal?.aborted) throw error
    if (error instanceof SyntaxError) throw new ApiError(response.status, '', strange(response))
    throw new ApiError(0, 'UNREACHABLE', String(error))
  }
}

/** @param {Response} response */
async function readRefusal(response) {
  const refusal = /** @type {unknown} */ (await response.json().catch(() => null))
  const { error = '', error_code: code = '' } = /** @type {Record<string, string>} */ (Object(refusal))
  return new ApiError(response.status, code, error || strange(response))
}

/** A proxy in front of the service may answer in its place, without the JSON of the service. @param {Response} response */
function strange({ status, statusText }) {
  return `the answer does not come from the service: HTTP ${status} ${statusText}`.trim()
}
