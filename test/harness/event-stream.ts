// A listener of GET /api/events: reads the stream as it comes, over real HTTP.

import { apiToken } from './service.ts'
import { waitUntil } from './wait-until.ts'

export type StreamEvent = { id: string | undefined; event: string; data: Record<string, unknown> }

type Options = { headers?: Record<string, string>; lastId?: string | undefined }

export class EventStream {
  readonly response: Response
  readonly events: StreamEvent[] = []
  comments = 0
  isOver = false
  readonly #hangUp: AbortController

  private constructor(response: Response, hangUp: AbortController) {
    this.response = response
    this.#hangUp = hangUp
    void this.#read()
  }

  /** Resolves when the answer begins, also if it is a refusal. */
  static async open(url: string, { headers = {}, lastId }: Options = {}): Promise<EventStream> {
    const hangUp = new AbortController()
    const response = await fetch(`${url}/api/events`, {
      headers: {
        authorization: `Bearer ${apiToken}`,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
        ...headers,
      },
      signal: hangUp.signal,
    })
    return new EventStream(response, hangUp)
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id
  }

  /** All events of a kind. */
  of(kind: string): StreamEvent[] {
    return this.events.filter(({ event }) => event === kind)
  }

  /** The first event of the kind that fits. */
  async next(kind: string, fits: (data: Record<string, unknown>) => boolean = () => true): Promise<StreamEvent> {
    const find = () => this.of(kind).find(({ data }) => fits(data))
    await waitUntil(`an event ${kind} comes`, () => find() !== undefined, { instead: () => this.events.slice(-20) })
    return find() as StreamEvent
  }

  /** The stream was ended by the service. */
  async ends(): Promise<void> {
    await waitUntil('the stream ends', () => this.isOver)
  }

  [Symbol.dispose](): void {
    this.#hangUp.abort()
  }

  async #read(): Promise<void> {
    let text = ''
    try {
      for await (const chunk of this.response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) this.#add(block)
      }
    } catch {
      // The test hung up, or the process was killed.
    }
    this.isOver = true
  }

  #add(block: string): void {
    if (block.startsWith(':')) {
      this.comments++
      return
    }
    const fields = new Map(
      block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
    )
    const data = JSON.parse(fields.get('data') ?? 'null') as Record<string, unknown>
    this.events.push({ id: fields.get('id'), event: fields.get('event') ?? '', data })
  }
}
