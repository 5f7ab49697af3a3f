// The connection of one account: at most one is open, and only the open one moves the state of the account.

import type { Network, NetworkSession } from '../core/network.ts'
import type { Closing } from '../core/network/closing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import type { AccountRecord } from './account-record.ts'
import { Connection } from './connection.ts'

type Deps = {
  account: AccountRecord
  network: Pick<Network, 'open'>
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  /** The session has logged in. */
  authenticated: () => void
  /** The network refuses the session for good. The connection may be another one when `isCurrent` is called later. */
  refused: (closing: Closing, isCurrent: () => boolean) => void
}

export class ConnectionSlot {
  readonly #deps: Deps
  #connection: Connection | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  get session(): NetworkSession | undefined {
    return this.#connection?.session
  }

  /** How many attempts have failed since the last login. */
  get failures(): number {
    return this.#connection?.failures ?? 0
  }

  /** Connects with the session of the record, after the pause; does nothing without one. */
  open(pauseMs: number): void {
    const { account, authenticated, refused } = this.#deps
    const { sessionId, name } = account.row
    if (sessionId === null) return
    const isCurrent = () => this.#connection === connection
    // An earlier connection no longer counts: the session may be another one by now.
    const current =
      <Args extends unknown[]>(follow: (...args: Args) => void) =>
      (...args: Args) => {
        if (isCurrent()) follow(...args)
      }
    const connection = new Connection({
      ...this.#deps,
      instance: name,
      sessionId,
      networkProxy: () => account.row.networkProxy,
      events: {
        attempt: current(() => {
          account.attempt()
        }),
        drained: current(() => {
          account.apply('drained')
        }),
        reopening: current((reason) => {
          account.apply('reopen', { why: reason })
        }),
        dropped: current((closing, nextMs) => {
          account.drop(closing, nextMs)
        }),
        authenticated: current(authenticated),
        invalidated: current((closing) => {
          refused(closing, isCurrent)
        }),
      },
    })
    this.#connection = connection
    connection.start(pauseMs)
  }

  /** Ends the pause before the next attempt. */
  tryNow(): void {
    this.#connection?.tryNow()
  }

  cutOff(): void {
    this.#connection?.cutOff()
  }

  goOn(): void {
    this.#connection?.goOn()
  }

  /** Closes the session, and opens it again at once. */
  reopen(): void {
    this.#connection?.reopen()
  }

  /** The same, but false when the network has caused the pause: then the next attempt comes after the pause. */
  renew(): boolean {
    return this.#connection?.renew() ?? false
  }

  /** Ends the connection. Before that it tells the network to forget this device; false when that failed within `ms`. */
  async leave(ms: number): Promise<boolean> {
    const { log, account } = this.#deps
    const connection = this.#connection
    // From here on the connection no longer moves the state of the account.
    this.#connection = undefined
    try {
      await connection?.logout(ms)
      return connection !== undefined
    } catch (err) {
      log.info({ err, instance: account.row.name }, 'WhatsApp has not confirmed the logout yet')
      return false
    } finally {
      await connection?.[Symbol.asyncDispose]()
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.[Symbol.asyncDispose]()
  }
}
