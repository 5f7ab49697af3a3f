// The simulator in a process of its own for the benchmark: sets the scene, gives messages, counts what it took.
import { SimNetwork } from '../sim/network/sim-network.ts'
import type { SimPerson } from '../sim/network/people/sim-person.ts'
import { serveParent } from './child.ts'
import type { GroupFacts } from './simulator-group.ts'
import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'

export type SessionKeys = { phone: string; device: number; noisePrivate: string; noisePublic: string }
type HostReport = {
  url: string
  online: number
  rssMb: number
  cpuMs: number
  /** Handed to clients and confirmed by them. */
  confirmed: number
  /** Decrypted by people. */
  received: number
  undecryptable: number
  problems: string[]
}

let network: SimNetwork | undefined
const phones: SimPhone[] = []
const people: SimPerson[] = []
const number = (prefix: string, index: number): string => `${prefix}${String(index).padStart(6, '0')}`

async function open(asked: { sessions: number; people: number }): Promise<{ url: string; keys: SessionKeys[] }> {
  const started = await SimNetwork.start({ seed: 'bench', logLimit: 0 })
  network = started
  for (let index = 0; index < asked.people; index++) people.push(started.person({ phone: number('55118', index) }))
  const keys = Array.from({ length: asked.sessions }, (_, index) => {
    const phone = started.account({ phone: number('55119', index) })
    phones.push(phone)
    const { noiseKey } = started.linkReady(phone).creds
    const [noisePrivate, noisePublic] = [noiseKey.private, noiseKey.public].map((key) =>
      Buffer.from(key).toString('base64'),
    )
    return { phone: phone.user.phone, device: 1, noisePrivate: noisePrivate ?? '', noisePublic: noisePublic ?? '' }
  })
  return { url: started.url, keys }
}

/** Each of the first accounts shares a group with all people. */
function found(groups: number): GroupFacts[] {
  const [founder, ...others] = people
  const open = network
  if (!open || !founder) throw new Error('there is no network')
  // Receipts cost the same with and without a group; here the reading is measured.
  for (const person of people) person.confirmsDelivery = false
  return phones.slice(0, groups).map((phone) => ({
    phone: phone.user.phone,
    group: open.group('Team', founder, [phone, ...others], 'pn').jid,
    members: [phone, ...people].map(({ user }) => user.phone),
  }))
}

/** Everybody writes to every account in turn; the event loop breathes between batches so that sockets drain. */
async function give(messages: number): Promise<void> {
  for (let index = 0; index < messages; index++) {
    const phone = phones[index % phones.length]
    const person = people[index % people.length]
    if (phone && person) person.text(phone, `message ${index}`)
    if (index % 20 === 19) await new Promise(setImmediate)
  }
}

function report(): HostReport {
  const { user, system } = process.cpuUsage()
  const devices = phones.map((phone) => phone.companion)
  return {
    url: network?.url ?? '',
    online: devices.filter((device) => device.live).length,
    rssMb: process.memoryUsage.rss() / 1_048_576,
    cpuMs: (user + system) / 1_000,
    confirmed: devices.reduce((sum, device) => sum + device.books.settled.receipt, 0),
    received: people.reduce((sum, person) => sum + person.messages.length, 0),
    undecryptable: people.reduce((sum, person) => sum + person.undecryptable.length, 0),
    problems: [...(network?.log.problems ?? [])],
  }
}

const desk = { open, give, found, report }

export type HostDesk = typeof desk

serveParent(desk)
