// Follows changes of messages at the helpdesk: a deletion, or a possible Retry.

import type { DestinationKey } from '../../../core/ids.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { retryUntil } from '../../../lib/retry.ts'
import { StorageError } from '../../../storage/engine/statement.ts'
import type { Route } from '../../conversations/route.ts'
import { otherInbox } from './commands.ts'
import type { ChangeCommand } from './commands.ts'
import type { MessageDeletions } from './message-deletions.ts'
import type { RetryRequests } from './retry-requests.ts'

type Deps = {
  requests: Pick<RetryRequests, 'note' | 'noteShownFailure'>
  deletions: Pick<MessageDeletions, 'follow'>
  /**
   * Instances that share a helpdesk inbox may be on different nodes. This stores what follows for an instance that another node
   * holds; null where nothing else could.
   */
  elsewhere: Changes | null
  clock: Clock
  log: Log
}

type Changes = Pick<MessageChanges, 'follow' | 'noteShownFailure'>

const pauses = { firstMs: 5000, ceilingMs: 5000 }

export class MessageChanges {
  readonly #deps: Deps
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the consequence is stored. The helpdesk sends a change once, so storage failures are retried here. */
  async follow(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { clock, log } = this.#deps
    const { messageId: message_id } = command
    const { name: instance } = route.sender
    const onFailure = (err: unknown) => {
      if (!(err instanceof StorageError)) throw err
      log.error({ err, instance, message_id }, 'a changed message could not be stored, trying again')
    }
    const options = { clock, signal: this.#stop.signal, pauses, onFailure }
    await this.#orElsewhere(
      () => retryUntil(options, () => this.#follow(route, command, receivedAt)),
      (elsewhere) => elsewhere.follow(route, command, receivedAt),
    )
  }

  /** A conversation shows the message as failed, and no callback may have told of it. */
  noteShownFailure(destination: DestinationKey, messageId: number): Promise<void> {
    return this.#orElsewhere(
      () => this.#deps.requests.noteShownFailure(destination, messageId),
      (elsewhere) => elsewhere.noteShownFailure(destination, messageId),
    )
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }

  /** Each step may be made twice, so those that were made here before the refusal do no harm. */
  async #orElsewhere(here: () => Promise<unknown>, there: (elsewhere: Changes) => Promise<void>): Promise<void> {
    const { elsewhere } = this.#deps
    try {
      await here()
    } catch (error) {
      if (!(error instanceof NotHeldError) || !elsewhere) throw error
      await there(elsewhere)
    }
  }

  async #follow(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { requests, deletions } = this.#deps
    if (!command.deleted) await requests.note(route, command, receivedAt)
    else if (!otherInbox(route.destination, command.conversation)) await deletions.follow(route, command)
  }
}
