// The simulated network of the instances benchmark, in a process of its own.

import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimNetwork } from '../sim/network/sim-network.ts'
import type { CompanionDevice } from '../sim/network/server/companion-device.ts'
import type { Connection } from '../sim/network/wire/connection.ts'
import { serveParent } from './child.ts'
import type { Way } from './instances-stage.ts'
import { ownCpuMs } from './own-use.ts'

const network = await SimNetwork.start({ seed: 'bench instances', logLimit: 0, qrRotationMs: 60_000 })
/** Connections that were cut: their devices count as online again only with another one. */
const cut = new Set<Connection>()
const linked: Record<Way, SimPhone[]> = { ours: [], bare: [] }

function phonesOf(numbers: readonly string[]): SimPhone[] {
  return numbers.map((number) => network.phone(number) ?? network.account({ phone: number }))
}

function devicesOf(way: Way): CompanionDevice[] {
  return linked[way].flatMap(({ companions }) => companions)
}

const desk = {
  address: () => ({ url: network.url, rootKey: network.rootKey.toString('hex') }),
  cpuMs: ownCpuMs,
  /** Credentials that log in without a pairing, in the library's own JSON. */
  link: ({ way, numbers }: { way: Way; numbers: string[] }) =>
    numbers.map((number) => {
      const phone = network.account({ phone: number })
      linked[way].push(phone)
      return JSON.stringify(network.linkReady(phone), BufferJSON.replacer)
    }),
  online: (way: Way) =>
    devicesOf(way).filter(({ live, connection }) => live && connection !== undefined && !cut.has(connection)).length,
  drop: (way: Way) => {
    for (const { connection } of devicesOf(way)) {
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
