// The two ways of a message in the latency benchmark: as fast as it goes, and at random moments.

import { until } from '../flow.ts'
import type { Arrivals } from './arrivals.ts'
import type { LatencyStage } from './latency-stage.ts'

/** `times` and `late` are in milliseconds. */
export type Waits = { times: number[]; late: number[] }

export type Direction = {
  /** Every chat has had a message. */
  meet: (stage: LatencyStage) => Promise<void>
  /** Resolves when the service is done with so many messages. A message follows when an earlier one is through. */
  asFastAsItGoes: (stage: LatencyStage, count: number) => Promise<void>
  atArrivals: (stage: LatencyStage, arrivals: Arrivals) => Promise<Waits>
}

/** How many received messages are under way in the closed loop, for each account. */
const receivedAtOnce = 4
/** The first message to a person costs many times as much, and the service is slow until its code is compiled. */
const firstAtOnce = 5

/** From the moment that the helpdesk sends a callback until it is answered. */
export const callback: Direction = {
  meet: (stage) => writeInTurn(stage, stage.chats.length, firstAtOnce),
  asFastAsItGoes: (stage, count) => writeInTurn(stage, count, stage.instances),
  atArrivals: async ({ callbacks, chats, place }, arrivals) => {
    return callbacks.ask('writeAtArrivals', { chats, place, arrivals })
  },
}

/** From the moment that a frame leaves the server of the network until the helpdesk has the message. */
export const inbound: Direction = {
  meet: async ({ network, helpdesk }) => {
    const count = await network.ask('writeToAll')
    await until('all conversations are open', async () => (await helpdesk.ask('posted')) >= count)
  },
  asFastAsItGoes: receiveInTurn,
  atArrivals: async ({ network, helpdesk }, arrivals) => {
    const before = await helpdesk.ask('posted')
    const { leftAt, late } = await network.ask('writeAtArrivals', arrivals)
    await until('all messages are posted', async () => (await helpdesk.ask('posted')) >= before + arrivals.count)
    const arrivedAt = await helpdesk.ask('arrivedAt', before)
    return { times: Object.entries(leftAt).map(([id, left]) => (arrivedAt[id] ?? NaN) - left), late }
  },
}

async function writeInTurn(stage: LatencyStage, count: number, agents: number): Promise<void> {
  const { callbacks, network, chats, place } = stage
  const before = await network.ask('received')
  await callbacks.ask('writeInTurn', { chats, place, agents, count })
  await until('all messages have arrived', async () => (await network.ask('received')) >= before + count)
}

async function receiveInTurn({ network, helpdesk, instances }: LatencyStage, count: number): Promise<void> {
  const before = await helpdesk.ask('posted')
  let written = 0
  await until('all messages are posted', async () => {
    const posted = (await helpdesk.ask('posted')) - before
    const next = Math.min(count, posted + instances * receivedAtOnce) - written
    await network.ask('write', next)
    written += next
    return posted >= count
  })
}
