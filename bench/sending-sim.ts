// The simulated network of the sending benchmark, in a process of its own: two accounts, a person, and a group for each.

import { BufferJSON } from '../sim/network/library.ts'
import { SimNetwork } from '../sim/network/sim-network.ts'
import { serveParent } from './child.ts'

const network = await SimNetwork.start({ seed: 'bench sending', logLimit: 0 })
const members = Array.from({ length: 100 }, (_, index) => network.person({ phone: `5511888880${100 + index}` }))
// Receipts cost both ways the same, and in a group more than the sending: here it is the sending that is measured.
for (const member of members) member.confirmsDelivery = false

const desk = {
  address: () => ({ url: network.url, rootKey: network.rootKey.toString('hex') }),
  /** Credentials that log in without a pairing, in the library's own JSON, and whom the account writes to. */
  link: (number: string) => {
    const phone = network.account({ phone: number })
    const [founder, ...others] = members
    if (!founder) throw new Error('there is nobody')
    const group = network.group('Team', founder, [phone, ...others])
    const credentials = JSON.stringify(network.linkReady(phone), BufferJSON.replacer)
    return { credentials, person: founder.user.pnJid, group: group.jid }
  },
  unread: () => members.reduce((sum, { undecryptable }) => sum + undecryptable.length, 0),
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
