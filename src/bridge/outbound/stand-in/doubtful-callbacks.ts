// Callbacks that their owner may have stored, because its answer was lost. A message is stored once by its id. Without an id
// it could be sent twice.

import { BridgeError } from '../../../core/errors.ts'
import type { Route } from '../../conversations/route.ts'
import { callbackKey } from '../accept/commands.ts'
import type { MessageAcceptor } from '../accept/message-acceptor.ts'
import type { SendAnswer } from '../accept/send-answer.ts'

export class DoubtfulCallbacks implements Pick<MessageAcceptor, 'send'> {
  readonly #acceptor: Pick<MessageAcceptor, 'send'>

  constructor(acceptor: Pick<MessageAcceptor, 'send'>) {
    this.#acceptor = acceptor
  }

  async send(route: Route, ...[arrival, withinMs]: ArrivalAndTime): Promise<SendAnswer> {
    if (callbackKey(route, arrival.command.messageId) === null) {
      throw new BridgeError(
        'SERVICE_STORAGE_FAILED',
        'the message has no id, and the node that serves this instance may have it already; look whether it was sent before you write it again',
      )
    }
    return this.#acceptor.send(route, arrival, withinMs)
  }
}

type ArrivalAndTime = [arrival: Parameters<MessageAcceptor['send']>[1], withinMs: number]
