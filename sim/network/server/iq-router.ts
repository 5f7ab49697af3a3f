// Answers queries: with the overrides of a test, with the default table, or with an error and a report.
import { SERVER_JID } from '../wire/jid.ts'
import { allChildren, describeStanza, stanza, type Stanza } from '../wire/stanza.ts'
import type { CompanionDevice } from './companion-device.ts'
import type { StanzaLog } from './stanza-log.ts'

export class IqError extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

export type Query = { iq: Stanza; content: Stanza | undefined; device: CompanionDevice }
/** The content of a result. Null passes the query to the next handler; 'silence' leaves it unanswered. */
export type Answer = Stanza[] | null | 'silence'
export type IqHandler = (query: Query) => Answer
export type IqTable = Record<string, IqHandler>

/** `namespace type child`, for example `encrypt get count`. */
export function iqKey(iq: Stanza): string {
  const { xmlns = '', type = '' } = iq.attrs
  return `${xmlns} ${type} ${allChildren(iq)[0]?.tag ?? ''}`.trim()
}

export class IqRouter {
  readonly #log: StanzaLog
  readonly #defaults = new Map<string, IqHandler>()
  readonly #overrides: { key: string; handler: IqHandler }[] = []

  constructor(log: StanzaLog) {
    this.#log = log
  }

  addDefaults(table: IqTable): void {
    for (const [key, handler] of Object.entries(table)) this.#defaults.set(key, handler)
  }

  /** The latest override answers first. The returned function removes the override. */
  override(key: string, handler: IqHandler): () => void {
    const entry = { key, handler }
    this.#overrides.unshift(entry)
    return () => {
      const index = this.#overrides.indexOf(entry)
      if (index >= 0) this.#overrides.splice(index, 1)
    }
  }

  answer(device: CompanionDevice, iq: Stanza): Stanza | undefined {
    const from = iq.attrs['to'] ?? SERVER_JID
    const { id } = iq.attrs
    try {
      const content = this.#ask({ iq, content: allChildren(iq)[0], device })
      if (content === 'silence') return undefined
      return stanza('iq', { id, from, type: 'result' }, content.length > 0 ? content : undefined)
    } catch (error) {
      if (!(error instanceof IqError)) this.#log.complain(`${describeStanza(iq)} failed: ${String(error)}`)
      const code = error instanceof IqError ? error.code : 500
      const text = error instanceof Error ? error.message : String(error)
      return stanza('iq', { id, from, type: 'error' }, [stanza('error', { code: String(code), text })])
    }
  }

  #ask(query: Query): Stanza[] | 'silence' {
    const key = iqKey(query.iq)
    const overrides = this.#overrides.filter((one) => one.key === key || one.key === '*').map((one) => one.handler)
    for (const handler of [...overrides, this.#defaults.get(key)]) {
      const answer = handler?.(query)
      if (answer !== null && answer !== undefined) return answer
    }
    this.#log.complain(`a query the simulator does not know: ${describeStanza(query.iq)}`)
    throw new IqError(501, 'feature-not-implemented')
  }
}
