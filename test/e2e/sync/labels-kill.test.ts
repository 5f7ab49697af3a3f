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
  await waitUntil('the account is online', () => world.service.reached('ready'))
}

/** A customer writes for the first time: the chat has no labels on either side. */
async function openChat({ network, helpdesk, phone }: ProcessWorld, n: number): Promise<Chat> {
  const person = network.person({ phone: `551188888000${n}`, pushName: `P${n}` })
  person.text(phone, `hello ${n}`)
  const found = () => helpdesk.messages().find(({ content }) => content === `hello ${n}`)
  await waitUntil('there is a conversation', () => found() !== undefined)
  return { person, conversation: found()?.conversationId ?? 0, wanted: new Set() }
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

function changeOnPhone({ phone }: ProcessWorld, chat: Chat, titles: readonly string[]): void {
  for (const title of titles) {
    phone.labels.mark(String(ofPhone.indexOf(title) + 1), chat.person.user.pnJid, toggle(chat.wanted, title))
  }
}

async function changeByAgent(world: ProcessWorld, chat: Chat, titles: readonly string[]): Promise<void> {
  const { helpdesk } = world
  const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
  const labels = new Set(atHelpdesk(world, chat))
  for (const title of titles) {
    if (toggle(chat.wanted, title)) labels.add(title)
    else labels.delete(title)
  }
  await agent.post(`/conversations/${chat.conversation}/labels`, { labels: [...labels] })
}

/** Chatwoot does not repeat a callback: what was answered must be stored. Nothing else leads to this chat. */
async function killAfterAnswer(world: ProcessWorld, fresh: Chat): Promise<void> {
  await changeByAgent(world, fresh, ['cold'])
  await world.helpdesk.settled()
  await world.kill()
}

/** No later change makes the service read everything again. */
async function killAfterOneChange(world: ProcessWorld, fresh: Chat, random: SeededRandom): Promise<void> {
  changeOnPhone(world, fresh, ['vip'])
  await pause(random.below(300))
  await world.kill()
}

async function killAmongChanges(world: ProcessWorld, chats: readonly Chat[], random: SeededRandom): Promise<void> {
  for (const chat of chats) {
    const isChosen = () => random.below(2) === 0
    changeOnPhone(world, chat, ofPhone.filter(isChosen))
    await changeByAgent(world, chat, ofAgents.filter(isChosen))
  }
  await world.helpdesk.settled()
  await pause(random.below(300))
  await world.kill()
}

describe('labels end as both sides have set them', { concurrency: 2 }, () => {
  for (const engine of engines) {
    const kills = rounds({ gate: 3, long: 9 })
    test(`after ${kills} × kill -9 among changes on both sides, on ${engine}`, { timeout: 600_000 }, async () => {
      await using world = await ProcessWorld.open({ engine, environment, network: { isBusiness: true } })
      const random = new SeededRandom('labels')
      for (const name of ofPhone) world.phone.labels.create(name)
      await listen(world)
      const chats: Chat[] = []
      for (let round = 0; round < kills; round++) {
        const fresh = await openChat(world, round)
        chats.push(fresh)
        if (round % 3 === 0) await killAfterAnswer(world, fresh)
        else if (round % 3 === 1) await killAfterOneChange(world, fresh, random)
        else await killAmongChanges(world, chats, random)
        await listen(world)
        await waitUntil('both sides have what was set', () => wrongIn(world, chats).length === 0, {
          instead: () => wrongIn(world, chats),
        })
      }
    })
  }
})
