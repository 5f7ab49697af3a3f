// The ways Chatwoot says no: each with its status and the body it really sends.

export class RailsError extends Error {
  readonly status: number
  readonly body: object | string | null

  constructor(status: number, body: object | string | null) {
    super(typeof body === 'string' ? body : JSON.stringify(body))
    this.name = 'RailsError'
    this.status = status
    this.body = body
  }
}

export function notFound(): RailsError {
  return new RailsError(404, { error: 'Resource could not be found' })
}

/** Chatwoot answers 401, not 403, when a policy refuses. */
export function refusedByPolicy(): RailsError {
  return new RailsError(401, { error: 'You are not authorized to do this action' })
}

/** A model that does not validate: contacts, inboxes, conversations, and updates of messages. */
export function recordInvalid(message: string, attributes: readonly string[]): RailsError {
  return new RailsError(422, { message, attributes })
}

export function unprocessable(error: string): RailsError {
  return new RailsError(422, { error })
}

/** An exception nobody rescued, a unique index for instance. */
export function crashed(): RailsError {
  return new RailsError(500, { status: 500, error: 'Internal Server Error' })
}

export function throttled(): RailsError {
  return new RailsError(429, 'Retry later\n')
}
