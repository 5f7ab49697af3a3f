// The simulated network of the latency benchmark, in a process of its own: people write to accounts and read what accounts write.

import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { BufferJSON } from '../../sim/network/library.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { serveParent } from '../child.ts'
import { ownCpuMs } from '../own-use.ts'
import { atArrivals } from './arrivals.ts'
import type { Arrivals } from './arrivals.ts'

type Chat = { phone: SimPhone; person: SimPerson }

const network = await SimNetwork.start({ seed: 'bench latency', logLimit: 0 })
const random = new SeededRandom('which chat')
const chats: Chat[] = []

function link(number: string, people: number) {
  const phone = network.account({ phone: number })
  const own = Array.from({ length: people }, () => {
    const person = network.person({ phone: `5511888${String(chats.length).padStart(6, '0')}` })
    // A receipt would change a message that the helpdesk does not have: the benchmark makes up the callbacks.
    person.confirmsDelivery = false
    chats.push({ phone, person })
    return person.user.pnJid
  })
  return { credentials: JSON.stringify(network.linkReady(phone), BufferJSON.replacer), people: own }
}

/** The server has sent the frame when this returns. Returns the id of the message. */
function writeTo({ phone, person }: Chat): string {
  return person.text(phone, 'How much is it?').id
}

function writeAnywhere(): string {
  const chat = chats[random.below(chats.length)]
  if (!chat) throw new Error('no account is linked')
  return writeTo(chat)
}

const desk = {
  cpuMs: ownCpuMs,
  facts: () => ({ url: network.url, rootKey: network.rootKey.toString('hex') }),
  /** Credentials that log in without a pairing, in the library's own JSON, and whom each account writes with. */
  link: ({ numbers, people }: { numbers: string[]; people: number }) => numbers.map((number) => link(number, people)),
  online: () => chats.filter(({ phone }) => phone.companions.some(({ live, connection }) => live && connection)).length,
  /** Each person writes once. Returns how many there are. */
  writeToAll: () => chats.map(writeTo).length,
  write: (count: number) => {
    for (let n = 0; n < count; n++) writeAnywhere()
  },
  /** When each message left, on the clock on the wall, and how late it was. */
  writeAtArrivals: async (arrivals: Arrivals) => {
    const leftAt: Record<string, number> = {}
    const late = await atArrivals(arrivals, () => {
      leftAt[writeAnywhere()] = Date.now()
    })
    return { leftAt, late }
  },
  /** Messages that reached a person. */
  received: () => chats.reduce((sum, { person }) => sum + person.messages.length, 0),
  problems: () => {
    const unread = chats.reduce((sum, { person }) => sum + person.undecryptable.length, 0)
    return [...network.log.problems, ...(unread > 0 ? [`${unread} messages could not be read`] : [])]
  },
}

export type NetworkDesk = typeof desk

serveParent(desk)
