// The outside world of the inbound benchmark, in a process of its own: people write to accounts, a helpdesk receives.

import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import type { SimGroup } from '../sim/network/groups/sim-group.ts'
import { BufferJSON } from '../sim/network/library.ts'
import type { SimPerson } from '../sim/network/people/sim-person.ts'
import { ShiftableClock } from '../sim/shiftable-clock.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { calm } from '../sim/helpdesk/settings.ts'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

type Target = 'person' | 'group'
type Order = { numbers: string[]; target: Target; count: number }

const writers = 10
const holdMs = 300_000
const clock = new ShiftableClock()
const world = await SimWorld.start({
  seed: 'bench inbound',
  clock,
  network: { logLimit: 0 },
  helpdesk: { messagesPerMinute: 1_000_000, quirks: calm },
})
const { network, helpdesk } = world
const people: SimPerson[] = Array.from({ length: writers }, (_, n) => network.person({ phone: `5511888880${100 + n}` }))
const groups = new Map<string, SimGroup>()

function phoneOf(number: string): SimPhone {
  return network.phone(number) ?? network.account({ phone: number })
}

function groupOf(number: string): SimGroup {
  const [founder, ...others] = people
  if (!founder) throw new Error('there is nobody')
  const group = groups.get(number) ?? network.group(`Team ${number}`, founder, [phoneOf(number), ...others])
  groups.set(number, group)
  return group
}

function delay(numbers: readonly string[], ms: number): void {
  for (const { connection } of numbers.flatMap((number) => phoneOf(number).companions)) {
    if (connection) connection.delayMs = ms
  }
}

const desk = {
  cpuMs: ownCpuMs,
  facts: () => ({ url: network.url, rootKey: network.rootKey.toString('hex'), helpdesk: helpdesk.facts }),
  /** Credentials that log in without a pairing, in the library's own JSON. */
  link: (numbers: string[]) =>
    numbers.map((number) => JSON.stringify(network.linkReady(phoneOf(number)), BufferJSON.replacer)),
  online: (numbers: string[]) =>
    numbers.flatMap((number) => phoneOf(number).companions).filter(({ live, connection }) => live && connection).length,
  /** Everything is encrypted now and held back on the wire. */
  prepare: ({ numbers, target, count }: Order) => {
    delay(numbers, holdMs)
    for (let n = 0; n < count; n++) {
      const number = numbers[n % numbers.length] ?? ''
      const writer = people[Math.floor(n / numbers.length) % writers]
      writer?.text(target === 'group' ? groupOf(number) : phoneOf(number), `message ${n}`)
    }
  },
  release: async (numbers: string[]) => {
    delay(numbers, 0)
    await clock.advance(holdMs)
  },
  posted: () => helpdesk.see.messageCount,
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
