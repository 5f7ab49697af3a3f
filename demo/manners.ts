// What people do without a click of the visitor: customers read their answers, and the agent looks at new messages.

import type { Agent } from './agent.ts'
import type { Stage } from './stage.ts'

export type Pauses = {
  /** How long a customer takes until an answer is read. */
  readMs: number
  /** How long the agent takes until a new message of the open conversation is seen. */
  lookMs: number
}

export class Manners {
  /** The conversation that the agent has on the screen. */
  openConversation: number | null = null
  readonly #stage: Stage
  readonly #agent: Agent
  readonly #pauses: Pauses
  /** The newest message of each conversation that the agent has seen. */
  readonly #seen = new Map<number, number>()

  constructor(stage: Stage, agent: Agent, pauses: Pauses) {
    this.#stage = stage
    this.#agent = agent
    this.#pauses = pauses
    stage.maria.messages.subscribe((received) => {
      if (received.own || received.message.protocolMessage) return
      later(pauses.readMs, () => {
        stage.maria.receipt('read', [received])
      })
    })
    stage.maria.receipts.subscribe(() => {
      stage.changed()
    })
    stage.maria.side.subscribe(() => {
      stage.changed()
    })
    stage.world.helpdesk.see.subscribe(() => {
      this.#lookAtNew()
    })
  }

  open(conversation: number): void {
    this.openConversation = conversation
    this.#lookAtNew()
    this.#stage.changed()
  }

  #lookAtNew(): void {
    const { helpdesk } = this.#stage.world
    this.openConversation ??= helpdesk.see.conversations()[0]?.id ?? null
    const conversation = this.openConversation
    if (conversation === null) return
    const newest = helpdesk.messages(conversation).findLast(({ messageType }) => messageType === 'incoming')
    if (!newest || (this.#seen.get(conversation) ?? 0) >= newest.id) return
    this.#seen.set(conversation, newest.id)
    later(this.#pauses.lookMs, () => {
      // A helpdesk that was stopped meanwhile shows the messages to the agent when it is back.
      this.#agent.look(conversation).catch(() => this.#seen.delete(conversation))
    })
  }
}

function later(ms: number, work: () => void): void {
  setTimeout(work, ms).unref()
}
