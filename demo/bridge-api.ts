// Asks the service over HTTP, as an operator's program does.

export type Answer = { status: number; body: Record<string, unknown>; bytes: Buffer }

export class BridgeApi {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const read = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {}
    return { status: response.status, body: read, bytes }
  }

  async expect(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await this.ask(method, path, body)
    if (answer.status < 400) return answer
    throw new Error(`the service answered ${answer.status} to ${method} ${path}: ${answer.bytes.toString()}`)
  }

  /** The value of each series, such as `service_messages_total{direction="in",…}`. */
  async metrics(): Promise<Map<string, number>> {
    const { bytes } = await this.expect('GET', '/metrics')
    const series = bytes.toString().matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)
    return new Map([...series].map(([, name = '', value]) => [name, Number(value)]))
  }
}
