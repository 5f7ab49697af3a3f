// The simulated network of the instances benchmark, in a process of its own.

import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimNetwork } from '../sim/network/sim-network.ts'
import type { Connection } from '../sim/network/wire/connection.ts'
import { serveParent } from './child.ts'

const network = await SimNetwork.start({ seed: 'bench instances', logLimit: 0, qrRotationMs: 60_000 })
/** Connections that were cut: their devices count as online again only with another one. */
const cut = new Set<Connection>()

function phonesOf(numbers: readonly string[]): SimPhone[] {
  return numbers.map((number) => network.phone(number) ?? network.account({ phone: number }))
}

const desk = {
  address: () => ({ url: network.url, rootKey: network.rootKey.toString('hex') }),
  /** Credentials that log in without a pairing, in the library's own JSON. */
  link: (numbers: string[]) =>
    phonesOf(numbers).map((phone) => JSON.stringify(network.linkReady(phone), BufferJSON.replacer)),
  online: (numbers: string[]) =>
    phonesOf(numbers)
      .flatMap(({ companions }) => companions)
      .filter(({ live, connection }) => live && connection !== undefined && !cut.has(connection)).length,
  drop: (numbers: string[]) => {
    for (const { connection } of phonesOf(numbers).flatMap(({ companions }) => companions)) {
      if (!connection) continue
      cut.add(connection)
      connection.drop()
    }
  },
  scan: async ({ number, qr }: { number: string; qr: string }) => {
    for (const phone of phonesOf([number])) await phone.scan(qr)
  },
  /** When each account went offline since that time, and when it was online again. */
  absences: ({ numbers, since }: { numbers: string[]; since: number }) =>
    phonesOf(numbers).map(({ companionEvents }) => {
      const events = companionEvents.entries.filter(({ at }) => at >= since)
      const leftAt = events.find(({ state }) => state === 'offline')?.at
      return { leftAt, backAt: events.findLast(({ state }) => state === 'online')?.at }
    }),
  /** The network lets a client wait for so long before it is logged in. */
  delayLogins: (ms: number) => {
    network.clearFaults()
    if (ms > 0) network.fault({ kind: 'delay', ms })
  },
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
