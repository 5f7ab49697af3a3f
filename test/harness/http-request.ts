// One HTTP request of a test to a running service, with the answer read to its end.

export type Answer = { status: number; headers: Headers; text: string; body: unknown }

export type RequestOptions = {
  headers?: Record<string, string>
  /** A string and bytes go out as they are, everything else as JSON. */
  body?: unknown
  /** Null sends no token. */
  token?: string | null
}

export async function requestFrom(
  base: string,
  method: string,
  path: string,
  { headers = {}, body, token = null }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: encode(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}

function encode(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return typeof body === 'string' ? body : JSON.stringify(body)
}
