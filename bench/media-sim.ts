// The outside world of the media benchmark, in a process of its own: a person sends a file, a helpdesk receives it.

import { randomBytes } from 'node:crypto'
import { calm } from '../sim/helpdesk/settings.ts'
import type { SeenMessage } from '../sim/helpdesk/snapshots.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { serveParent } from './child.ts'

const arriveMs = 120_000
const { network, helpdesk } = await SimWorld.start({
  seed: 'bench media',
  network: { logLimit: 0 },
  helpdesk: { messagesPerMinute: 1_000_000, quirks: calm },
})
const writer = network.person({ phone: '5511888880001' })

function phoneOf(number: string) {
  return network.phone(number) ?? network.account({ phone: number })
}

const desk = {
  facts: () => ({
    url: network.url,
    rootKey: network.rootKey.toString('hex'),
    certificate: network.authority.pem,
    helpdesk: helpdesk.facts,
  }),
  /** Credentials that log in without a pairing, in the library's own JSON. */
  link: (number: string) => JSON.stringify(network.linkReady(phoneOf(number)), BufferJSON.replacer),
  isOnline: (number: string) => phoneOf(number).companions.some(({ live, connection }) => live && connection),
  /** Milliseconds until the helpdesk holds the whole file. */
  pass: async ({ number, bytes }: { number: string; bytes: number }) => {
    const file = randomBytes(bytes)
    const started = performance.now()
    const mimetype = 'application/pdf'
    const { id } = writer.media(phoneOf(number), 'document', { bytes: file, mimetype, fileName: 'plan.pdf' })
    const isWhole = ({ sourceId, files: [first] }: SeenMessage) => sourceId === id && first?.bytes.length === bytes
    await helpdesk.waitForMessage(undefined, isWhole, arriveMs)
    return performance.now() - started
  },
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
