// Errors a caller must hear: one code each, and one table from code to HTTP status.

export const statusOfCode = {
  SERVICE_BAD_REQUEST: 400,
  SERVICE_UNAUTHORIZED: 401,
  SERVICE_PUBLIC_STATS_DISABLED: 403,
  SERVICE_ROUTE_NOT_FOUND: 404,
  SERVICE_INSTANCE_NOT_FOUND: 404,
  SERVICE_TENANT_NOT_FOUND: 404,
  SERVICE_NO_QR: 404,
  SERVICE_DELIVERY_NOT_FOUND: 404,
  SERVICE_PARKED_NOT_FOUND: 404,
  SERVICE_METHOD_NOT_ALLOWED: 405,
  SERVICE_REQUEST_TIMEOUT: 408,
  SERVICE_WAIT_TIMEOUT: 408,
  SERVICE_NOTHING_TO_RESUME: 409,
  SERVICE_NOT_PAIRING: 409,
  SERVICE_DELIVERY_PENDING: 409,
  SERVICE_BODY_TOO_LARGE: 413,
  SERVICE_UNSUPPORTED_MEDIA_TYPE: 415,
  SERVICE_RATE_LIMITED: 429,
  SERVICE_HEADERS_TOO_LARGE: 431,
  SERVICE_INTERNAL: 500,
  SERVICE_STORAGE_FAILED: 500,
  SERVICE_NETWORK_FAILED: 500,
  SERVICE_OVERLOADED: 503,
  SERVICE_STANDBY: 503,
} as const

export type ErrorCode = keyof typeof statusOfCode

export class BridgeError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.name = 'BridgeError'
    this.code = code
  }
}
