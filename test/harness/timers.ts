// What a test sees of disappearing messages: the timer of a received answer, and the notices at the helpdesk.

import assert from 'node:assert/strict'
import { contextOf } from '../../sim/network/people/chat-timers.ts'
import { unwrap } from '../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { AgentWorld } from './agent-world.ts'
import { waitUntil } from './wait-until.ts'

export const day = 86_400
export const week = 7 * day
export const quarter = 90 * day

/** The timer that a message carries; undefined when it carries none. */
export function timerOf({ message }: Pick<ReceivedMessage, 'message'>): number | undefined {
  return contextOf(unwrap(message))?.expiration ?? undefined
}

/** The agent answers in this conversation. Returns the timer of the answer that the person receives. */
export async function timerOfAnswer(
  world: AgentWorld,
  text: string,
  conversation = world.conversation,
  person: SimPerson = world.bob,
): Promise<number | undefined> {
  await world.write(text, {}, conversation)
  return timerOf(await world.received(text, person))
}

/** The texts of the activity messages in a conversation, without those that the helpdesk itself writes. */
export function noticesIn(world: AgentWorld, conversation: number): (string | null)[] {
  return world.helpdesk.see
    .messages()
    .filter(({ conversationId, messageType }) => conversationId === conversation && messageType === 'activity')
    .map(({ content }) => content)
    .filter((content) => /disappear|desapare|temporales|temporárias|somem|sumirem/.test(content ?? ''))
}

/** Waits until the conversation has exactly these notices. */
export async function noticesAre(world: AgentWorld, conversation: number, wanted: readonly string[]): Promise<void> {
  const seen = () => noticesIn(world, conversation)
  await waitUntil('the notices are there', () => seen().length >= wanted.length, { instead: seen })
  await world.drained()
  assert.deepEqual(seen(), wanted)
}
