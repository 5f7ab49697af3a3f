// Answers callbacks of instances whose owner does not answer, as that owner would while its account is offline.

import type { StandIn, UnownedCallback } from '../../core/nodes/stand-in.ts'
import { parseJson } from '../json-body.ts'
import type { WebhookHandler } from './webhook-handler.ts'
import { toWebhookReply } from './webhook-reply.ts'
import type { WebhookReply } from './webhook-reply.ts'

type Handler = Pick<WebhookHandler, 'receive'>

/** `doubtful` handles the callbacks that their owner may have stored. */
type Deps = { certain: Handler; doubtful: Handler }

export class CallbackStandIn implements StandIn {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async store({ instance, headers, raw, waitedMs, mayBeStored }: UnownedCallback): Promise<WebhookReply> {
    const { certain, doubtful } = this.#deps
    const handler = mayBeStored ? doubtful : certain
    return toWebhookReply(await handler.receive(instance, { raw, headers, waitedMs }, parseJson))
  }
}
