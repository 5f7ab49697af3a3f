// kill -9 of the whole service among changes of labels on both sides: in the end both sides have what was set last.

import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { engines } from '../../harness/databases.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

/** A customer with a conversation, and the labels that both sides must have in the end. */
type Chat = { person: SimPerson; conversation: number; wanted: Set<string> }

const environment = { SERVICE_LABELS_SYNC: 'true', SERVICE_DRAIN_RATE: '0' }
const ofPhone = ['vip', 'paid', 'late']
const ofAgents = ['cold', 'hot', 'call-back']

/** The helpdesk calls the process that runs now. */
async function listen(world: ProcessWorld): Promise<void> {
  const channel = { webhook_url: `${await world.service.ready()}/api/instances/n0/webhook` }
  await new DeskClient(world.helpdesk).patch('/inboxes/1', { channel })
  await waitUntil('the account is online', () => world.service.reached('ready'), { timeoutMs: 60_000 })
}

async function openChats({ network, helpdesk, phone }: ProcessWorld): Promise<Chat[]> {
  const people = Array.from({ length: 3 }, (_, n) => network.person({ phone: `551188888000${n}`, pushName: `P${n}` }))
  for (const [n, person] of people.entries()) person.text(phone, `hello ${n}`)
  const found = (n: number) => helpdesk.messages().find(({ content }) => content === `hello ${n}`)
  await waitUntil('all have a conversation', () => people.every((_, n) => found(n) !== undefined), {
    timeoutMs: 60_000,
  })
  return people.map((person, n) => ({ person, conversation: found(n)?.conversationId ?? 0, wanted: new Set() }))
}

function atHelpdesk({ helpdesk }: ProcessWorld, { conversation }: Chat): string[] {
  return [...(helpdesk.see.conversations().find(({ id }) => id === conversation)?.labels ?? [])].sort()
}

function wrongIn(world: ProcessWorld, chats: readonly Chat[]): string[] {
  return chats.flatMap((chat) => {
    const { user } = chat.person
    const shown = [atHelpdesk(world, chat), world.phone.labels.of(user.pnJid, user.lidJid)].map(String)
    const wanted = [...chat.wanted].sort().join()
    return shown.every((labels) => labels === wanted) ? [] : `${shown.join(' | ')}, not ${wanted}`
  })
}

function toggle(labels: Set<string>, title: string): boolean {
  if (labels.delete(title)) return false
  labels.add(title)
  return true
}

/** The phone and an agent change some labels of every chat. Each label is changed by one side only. */
async function changeAll(world: ProcessWorld, chats: readonly Chat[], random: SeededRandom): Promise<void> {
  const { phone, helpdesk } = world
  const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
  for (const chat of chats) {
    const before = new Set(atHelpdesk(world, chat))
    for (const [n, title] of ofPhone.entries()) {
      if (random.below(2) === 0) phone.labels.mark(String(n + 1), chat.person.user.pnJid, toggle(chat.wanted, title))
    }
    for (const title of ofAgents) if (random.below(2) === 0 && toggle(chat.wanted, title)) before.add(title)
    const labels = [...before].filter((title) => !ofAgents.includes(title) || chat.wanted.has(title))
    await agent.post(`/conversations/${chat.conversation}/labels`, { labels })
  }
}

describe('labels end as both sides have set them', { concurrency: 2 }, () => {
  for (const engine of engines) {
    const kills = rounds({ gate: 2, long: 8 })
    test(`after ${kills} × kill -9 among changes on both sides, on ${engine}`, { timeout: 300_000 }, async () => {
      await using world = await ProcessWorld.open({ engine, environment, network: { isBusiness: true } })
      const random = new SeededRandom('labels')
      for (const name of ofPhone) world.phone.labels.create(name)
      await listen(world)
      const chats = await openChats(world)
      for (let round = 0; round < kills; round++) {
        await changeAll(world, chats, random)
        // Chatwoot does not repeat a callback: what was answered must be stored.
        await world.helpdesk.settled()
        await pause(random.below(400))
        await world.kill()
        await listen(world)
        await waitUntil('both sides have what was set', () => wrongIn(world, chats).length === 0, {
          timeoutMs: 60_000,
          instead: () => wrongIn(world, chats),
        })
      }
    })
  }
})
