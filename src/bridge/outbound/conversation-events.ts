// Follows what callbacks show beside messages: that they arrive, and that an agent types, has seen a conversation, wrote in it,
// resolved it, or asks the service for something in a note.

import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { LostCallbacks } from '../conversations/lost-callbacks.ts'
import type { Route } from '../conversations/route.ts'
import type { AgentActivity } from './agent-activity.ts'
import type { AnswerRoutes } from './accept/answer-routes.ts'
import type { SendAnswer } from './accept/send-answer.ts'
import { parseChat } from '../../core/address.ts'
import { isUnderImport } from '../../core/history/import-state.ts'
import type { OutgoingCommand } from '../../core/helpdesk/callback.ts'
import type { ConversationLabels } from '../../core/sync/labels.ts'
import type { MembersQuestion } from '../../core/group-administration.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

type Command<Kind extends OutgoingCommand['kind']> = Extract<OutgoingCommand, { kind: Kind }>

type Observed = Command<'seen' | 'typing' | 'status' | 'note'>

type Deps = {
  activity: Pick<AgentActivity, 'seen' | 'typing' | 'acted' | 'used' | 'usedAddress'>
  conversations: Pick<ConversationDirectory, 'mayBeResolved'>
  answers: Pick<AnswerRoutes, 'findRoute' | 'ownerOf'>
  lostCallbacks: Pick<LostCallbacks, 'heard'>
  onMembersAsked: (question: MembersQuestion) => void
  onLabelled: (labels: ConversationLabels) => Promise<void>
  clock: Clock
  log: Log
}

export class ConversationEvents {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A callback came whose signature is right and that could be read. */
  heard({ destination }: Route): void {
    if (destination) this.#deps.lostCallbacks.heard(destination.key)
  }

  /**
   * Only for conversations of the destination of the instance. Resolves when a change of labels is stored. The rest happens in
   * the background.
   */
  async follow(route: Route, command: Observed): Promise<void> {
    if (!isOurs(route, command)) return
    const { conversations } = this.#deps
    const { destination } = route
    const { conversationId } = command.conversation
    if ('isResolved' in command && command.isResolved && destination && conversationId !== null) {
      conversations.mayBeResolved(destination.key, conversationId)
    }
    if (command.kind === 'note') this.#inBackground(route, this.#ask(route, command))
    else if (command.kind !== 'status') this.#inBackground(route, this.#observe(route, command))
    if ('labels' in command) await this.#labelled(route, command)
  }

  /** A message was accepted that began to be handled at `startedAt`. */
  accepted(
    { destination }: Route,
    { agentName, conversation }: Command<'send'>,
    { instance, address, hasUnread }: Extract<SendAnswer, { kind: 'sent' | 'queued' }>,
    startedAt: number,
  ): void {
    const { activity, clock } = this.#deps
    // Greetings and surveys that the helpdesk sends by itself come without an agent.
    if (agentName !== null) {
      activity.acted(instance, startedAt)
      activity.usedAddress(instance, address, startedAt)
    }
    if (hasUnread && destination && conversation.conversationId !== null) {
      activity.seen(destination, conversation.conversationId, clock.now())
    }
  }

  #inBackground({ sender }: Route, work: Promise<void>): void {
    work.catch((err: unknown) => {
      this.#deps.log.debug({ err, instance: sender.name }, 'what an agent does could not be shown')
    })
  }

  async #labelled(route: Route, { conversation, labels }: Command<'seen' | 'status'>): Promise<void> {
    const { answers, onLabelled } = this.#deps
    const { conversationId } = conversation
    const { sender, destination, ref } = await answers.ownerOf(route, conversationId)
    if (!labels || !destination || !ref || conversationId === null) return
    const at = { instance: sender.name, chat: ref.chatId, destination: destination.key, conversationId }
    await onLabelled({ ...at, ...labels })
  }

  /** Only the conversation of a group has members to ask for. */
  async #ask(route: Route, command: Command<'note'>): Promise<void> {
    const { answers, onMembersAsked } = this.#deps
    const { conversationId } = command.conversation
    const { sender, destination, ref } = await answers.findRoute(route, command)
    const chat = ref && parseChat(ref.jid)
    if (chat?.kind !== 'group' || !destination || conversationId === null) return
    const question = { instance: sender.name, groupId: chat.id, destination, conversationId }
    onMembersAsked({ ...question, noteId: command.messageId })
  }

  /** Typing, seen and online are shown by the account that owns the conversation. */
  async #observe(route: Route, command: Command<'seen' | 'typing'>): Promise<void> {
    const { activity, answers, clock } = this.#deps
    const { conversationId } = command.conversation
    const now = clock.now()
    if (command.kind === 'typing') {
      const { sender, ref, importState } = await answers.findRoute(route, command)
      if (isUnderImport(importState, now)) return
      activity.acted(sender.name, now)
      if (ref) activity.typing(sender.name, ref, command.typing)
      return
    }
    const { sender, destination, ref, importState } = await answers.ownerOf(route, conversationId)
    // An import marks its conversation seen. No agent has looked.
    if (importState.isHistory || isUnderImport(importState, now)) return
    if (destination && conversationId !== null && command.at !== null) {
      // The helpdesk sends this time with every change of the conversation, also with changes by customers.
      activity.acted(sender.name, command.at)
      if (ref) activity.used(sender.name, ref, command.at)
      // The time is in whole seconds: messages posted within that second were visible.
      activity.seen(destination, conversationId, command.at + 999)
    }
  }
}

function isOurs({ destination }: Route, { conversation }: Observed): boolean {
  const { accountId, inboxId } = conversation
  const isAccount = accountId === null || accountId === destination?.accountId
  return isAccount && (inboxId === null || inboxId === destination?.inboxId)
}
