// A world with WhatsApp Business and labels switched on: what both sides show of a chat, and what the service asked for.

import { AgentWorld } from '../../../harness/agent-world.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import type { WorldOptions } from '../../../harness/world.ts'

export async function openLabels(options: WorldOptions = {}): Promise<AgentWorld> {
  const environment = { SERVICE_LABELS_SYNC: 'true', ...options.environment }
  return AgentWorld.open({ ...options, network: { isBusiness: true, ...options.network }, environment })
}

/** Bob has written: his conversation is known. */
export async function opened(world: AgentWorld, text = 'hello'): Promise<number> {
  return (await world.arrived(world.bob.text(world.phone, text))).conversationId
}

/** The labels of Bob's chat on the phone. */
export function onPhone({ phone, bob }: AgentWorld): string[] {
  return phone.labels.of(bob.user.pnJid, bob.user.lidJid)
}

export function atHelpdesk({ helpdesk }: AgentWorld, conversation: number): string[] {
  return [...(helpdesk.see.conversations().find(({ id }) => id === conversation)?.labels ?? [])].sort()
}

/** An agent sets these labels, and no others, on the conversation. */
export async function setByAgent(world: AgentWorld, conversation: number, ...labels: string[]): Promise<void> {
  const { status, text } = await world.agent.post(`/conversations/${conversation}/labels`, { labels })
  if (status !== 200) throw new Error(text)
}

/** Waits until both sides have these labels. Names and titles differ only in their case. */
export async function bothHave(world: AgentWorld, conversation: number, ...labels: string[]): Promise<void> {
  const seen = () => ({ phone: onPhone(world), helpdesk: atHelpdesk(world, conversation) })
  const wanted = labels.map((label) => label.toLowerCase()).sort()
  const holds = () => {
    const { phone, helpdesk } = seen()
    const lower = phone.map((name) => name.toLowerCase()).sort()
    return lower.join() === wanted.join() && helpdesk.join() === wanted.join()
  }
  await waitUntil(`both sides have ${labels.join()}`, holds, { instead: seen })
}

/** What the service has written so far: labels of conversations, labels of the account, and labels of the phone. */
export function writesOf({ helpdesk, phone }: AgentWorld) {
  const posts = helpdesk.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/labels'))
  return { helpdesk: posts.length, network: phone.appState.changes.length }
}

export async function labelCounts(world: AgentWorld): Promise<Record<string, number>> {
  const { text } = await world.service.get('/metrics')
  const lines = text.matchAll(
    /^service_realtime_events_total\{feature="labels",result="(\w+)",instance="n0"\} (\d+)$/gm,
  )
  return Object.fromEntries([...lines].map(([, result = '', count]) => [result, Number(count)]))
}

/** Waits until this many looks have had the result. */
export async function counted(world: AgentWorld, result: string, times = 1): Promise<void> {
  let seen: Record<string, number> = {}
  const holds = async () => {
    seen = await labelCounts(world)
    return (seen[result] ?? 0) >= times
  }
  await waitUntil(`${result} is counted ${times} times`, holds, { instead: () => seen })
}
