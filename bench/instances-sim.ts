// The simulated network of the instances benchmark, in a process of its own.

import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimNetwork } from '../sim/network/sim-network.ts'
import type { CompanionDevice } from '../sim/network/server/companion-device.ts'
import type { Connection } from '../sim/network/wire/connection.ts'
import { serveParent } from './child.ts'
import type { Way } from './flow.ts'
import { ownCpuMs } from './own-use.ts'

const network = await SimNetwork.start({ seed: 'bench instances', logLimit: 0, qrRotationMs: 60_000 })
/** Connections that were cut: their devices count as online again only with another one. */
const cut = new Set<Connection>()
const linked: Record<Way, SimPhone[]> = { ours: [], bare: [] }

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
  scan: ({ number, qr }: { number: string; qr: string }) => network.account({ phone: number }).scan(qr),
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
