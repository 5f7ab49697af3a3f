// A world in which a customer types, an agent works, and the helpdesk shows who types.

import assert from 'node:assert/strict'
import type { SeenConversation } from '../../sim/helpdesk/snapshots.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { CompanionDevice } from '../../sim/network/server/companion-device.ts'
import type { AgentWorld } from './agent-world.ts'
import { waitUntil } from './wait-until.ts'

/** What these functions need of a world. */
type TypingWorld = Pick<AgentWorld, 'network' | 'helpdesk' | 'phone' | 'bob' | 'agent' | 'arrived' | 'metric'>

type Result = 'ok' | 'no_contact' | 'no_conv' | 'throttled' | 'ds_error'
const results: readonly Result[] = ['ok', 'no_contact', 'no_conv', 'throttled', 'ds_error']

/** The linked client of the first account, as the server knows it. */
export function deviceOf(world: TypingWorld): CompanionDevice {
  const [device] = world.phone.companions
  assert.ok(device)
  return device
}

/** The subscriptions that reached the server, as addresses. */
export function subscriptionsOf(world: TypingWorld): (string | undefined)[] {
  const sent = world.network.log.find({ tag: 'presence' }).filter(({ direction }) => direction === 'in')
  return sent.filter(({ attrs }) => attrs['type'] === 'subscribe').map(({ attrs }) => attrs['to'])
}

/** The customer writes, so that the helpdesk has a conversation; its id. */
export async function opened(world: TypingWorld, person: SimPerson = world.bob): Promise<number> {
  return (await world.arrived(person.text(world.phone, 'hello'))).conversationId
}

/** An agent types in the conversation and stops. The account comes online and subscribes to the customer. */
export async function agentActs(world: TypingWorld, conversation: number): Promise<void> {
  for (const typing_status of ['on', 'off']) {
    await world.agent.post(`/conversations/${conversation}/toggle_typing_status`, { typing_status })
  }
  await world.helpdesk.settled()
}

/** A conversation whose customer is heard when he types. */
export async function watched(world: TypingWorld, person: SimPerson = world.bob): Promise<number> {
  const conversation = await opened(world, person)
  await agentActs(world, conversation)
  const isSubscribed = () => deviceOf(world).subscriptions.has(person.user)
  await waitUntil('the account is subscribed', isSubscribed, { instead: () => subscriptionsOf(world) })
  return conversation
}

/** Shorter than the silence of 25 s after which typing ends by itself. */
const silenceMs = 20_000

/** The helpdesk shows that the contact of the conversation types, or no longer does. */
export async function shows(world: TypingWorld, conversation: number, isTyping: boolean): Promise<SeenConversation> {
  const matches = ({ id, contactTypingSince }: SeenConversation) =>
    id === conversation && (contactTypingSince !== null) === isTyping
  return world.helpdesk.waitForConversation(matches, isTyping ? undefined : silenceMs)
}

/** How often typing was counted, by result, once each of these counts is reached. */
export async function counted(world: TypingWorld, wanted: Partial<Record<Result, number>>): Promise<void> {
  let seen: Partial<Record<Result, number>> = {}
  const holds = async () => {
    seen = {}
    for (const result of results) {
      const line = `service_realtime_events_total{feature="typing",result="${result}",instance="n0"}`
      const count = await world.metric(line)
      if (count > 0) seen[result] = count
    }
    return results.every((result) => (seen[result] ?? 0) === (wanted[result] ?? 0))
  }
  await waitUntil(`typing is counted as ${JSON.stringify(wanted)}`, holds, { instead: () => seen })
}

/** The requests that show typing, with their status. */
export function typingRequests(world: TypingWorld): number[] {
  return world.helpdesk.requests
    .filter(({ path }) => path.includes('/toggle_typing?') || path.endsWith('/toggle_typing'))
    .map(({ status }) => status)
}
