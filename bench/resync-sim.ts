// The outside world of the resync benchmark, in a process of its own: contacts with pictures, and people who write meanwhile.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { calm } from '../sim/helpdesk/settings.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { serveParent } from './child.ts'

const writers = 10
const atOnce = 20
const pictureBytes = 20 * 1024
const arriveMs = 120_000
const { network, helpdesk } = await SimWorld.start({
  seed: 'bench resync',
  network: { logLimit: 0 },
  helpdesk: { messagesPerMinute: 1_000_000, quirks: calm },
})
const people = Array.from({ length: writers }, (_, n) => network.person({ phone: `5511888880${100 + n}` }))
const { url, directPath } = network.media.put(
  Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), randomBytes(pictureBytes)]),
  'image/jpeg',
)
let edition = 0
let asked = 0

// Everybody has a picture, and another one in every edition.
network.router.override('w:profile:picture get picture', ({ iq }) => {
  asked++
  const id = `${edition}${(iq.attrs['target'] ?? '').replace(/\D/g, '')}`
  return [{ tag: 'picture', attrs: { id, type: 'image', url, direct_path: directPath } }]
})

function phoneOf(number: string) {
  return network.phone(number) ?? network.account({ phone: number })
}

async function createContact(phone: string): Promise<void> {
  const { url: base, api_token: token, account_id: account, inbox_id: inbox } = helpdesk.facts
  const body = { name: phone, identifier: `${phone}@s.whatsapp.net`, inbox_id: inbox, source_id: phone }
  const answer = await fetch(`${base}/api/v1/accounts/${account}/contacts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', api_access_token: token },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`the helpdesk did not create a contact: ${answer.status}`)
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
  fill: async (count: number) => {
    for (let n = 0; n < count; n += atOnce) {
      const some = Array.from({ length: Math.min(atOnce, count - n) }, (_, more) => 5_511_700_000_000 + n + more)
      await Promise.all(some.map((phone) => createContact(String(phone))))
    }
  },
  renewPictures: () => {
    edition++
  },
  asked: () => asked,
  /** Sends so many texts, one after every pause. Resolves to the milliseconds until the helpdesk has each. */
  write: async ({ number, count, everyMs }: { number: string; count: number; everyMs: number }) => {
    const times: Promise<number>[] = []
    for (let n = 0; n < count; n++) {
      const began = performance.now()
      const sent = people[n % writers]?.text(phoneOf(number), `message ${n}`)
      const arrived = helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === sent?.id, arriveMs)
      times.push(arrived.then(() => performance.now() - began))
      await sleep(everyMs)
    }
    return Promise.all(times)
  },
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
