// Chatwoot's refusals, each with its real status and body.

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

/** A failed validation of contacts, helpdesk inboxes, conversations, and updates of messages. */
export function recordInvalid(message: string, attributes: readonly string[]): RailsError {
  return new RailsError(422, { message, attributes })
}

export function unprocessable(error: string): RailsError {
  return new RailsError(422, { error })
}

/** An exception that Chatwoot does not handle, for example one of a unique index. */
export function crashed(): RailsError {
  return new RailsError(500, { status: 500, error: 'Internal Server Error' })
}

export function throttled(): RailsError {
  return new RailsError(429, 'Retry later\n')
}
