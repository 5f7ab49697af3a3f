// What is around a callback before it is accepted: who speaks in its conversation, which chat is meant, what was heard there.

import type { Chat } from '../../../core/address.ts'
import type { Statement } from '../../../storage/engine/statement.ts'
import type { SendContextStore } from '../../../storage/stores/messages/send-context-store.ts'
import type { Heard } from '../send/immediate-send.ts'
import type { ChatRef, Recipients } from '../send/recipients.ts'
import type { Route } from '../../conversations/route.ts'
import type { Seen } from './send-answer.ts'
import { callbackKey } from './commands.ts'
import type { SendCommand } from './commands.ts'

type Deps = {
  store: Pick<SendContextStore, 'read' | 'recall'>
  recipients: Pick<Recipients, 'lookUp' | 'refOf'>
  /** The record of an instance, and where it belongs; undefined when there is none. */
  routeOf: (instance: string) => Promise<Route | undefined>
}

/** `heard` is what allows a message to leave at once; `still` fails a commit when any of it has changed since. */
export type SendContext = Route & { ref: ChatRef; heard: Heard | undefined; still: Statement | undefined } & Seen

export class SendContexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** From memory where that will do, unless `afresh`. */
  async of(route: Route, command: SendCommand, chat: Chat, { afresh }: { afresh: boolean }): Promise<SendContext> {
    const { store, recipients, routeOf } = this.#deps
    const { destination, sender } = route
    const known = await recipients.lookUp(sender.name, chat)
    const spot = {
      instance: sender.name,
      chat: known?.chat ?? null,
      destination: destination?.key ?? null,
      conversationId: command.place.conversationId,
      callback: callbackKey(sender.name, destination, command.messageId),
    }
    const recalled = afresh ? undefined : store.recall(spot)
    const around = recalled ?? (await store.read(spot))
    const { owner, hasUnread, isSettled } = around
    // Inboxes can be shared: the instance that holds the conversation is the one that answers in it.
    const other = owner === undefined || owner === sender.name ? undefined : await routeOf(owner)
    if (other?.destination && other.destination.key === destination?.key) {
      const ref = await recipients.refOf(other.sender.name, chat)
      return { ...other, ref, heard: undefined, still: recalled?.still, hasUnread }
    }
    const ref = known ?? (await recipients.refOf(sender.name, chat))
    // A repeat is not made ready: its keys would be spent on nothing.
    return { ...route, ref, heard: isSettled ? undefined : around, still: recalled?.still, hasUnread }
  }
}
