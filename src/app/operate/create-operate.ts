// Creates the parts with which an operator looks after the service: destinations, tests of helpdesks, backups.

import { recentWarnings } from '../../lib/log.ts'
import { Backups } from '../../operations/backups.ts'
import { AccessTests } from '../../setup/checks/access-tests.ts'
import { thisMachine } from '../../setup/checks/machine.ts'
import type { Machine } from '../../setup/checks/machine.ts'
import { readServerVersion } from '../../storage/server-version.ts'
import { DestinationList } from '../../tenants/destination-list.ts'
import type { Base } from '../base.ts'
import type { Rooms } from '../create-rooms.ts'

export type Operate = ReturnType<typeof createOperate>

export function createOperate(base: Base, rooms: Rooms, machine: Machine = thisMachine) {
  const { config, clock, log, stack } = base
  const { storage, accounts, tenants, downstream, setup, inbound } = rooms
  const { versions } = setup
  const destinations = new DestinationList({
    ...{ roster: accounts.roster, routing: tenants.routing, tenants: tenants.store },
    standard: config.downstream,
  })
  const backups = stack.use(
    new Backups({
      location: config.storage.database,
      freeBytes: (directory) => machine.freeBytes(directory),
      audit: (record) => storage.audit.append(record),
      ...{ clock, log },
    }),
  )
  return {
    warnings: { recentWarnings: () => recentWarnings(log) },
    destinations: { destinations, versions, held: inbound.held, lostCallbacks: inbound.lostCallbacks },
    accessTests: {
      tests: new AccessTests({ downstream, destinations, versions, clock }),
      tenants: tenants.cache,
      standard: config.downstream,
    },
    settings: {
      differing: config.differing,
      build: base.build,
      engine: storage.database.engine,
      databaseVersion: () => readServerVersion(storage.database),
      clientVersion: () => accounts.network.version.state,
    },
    backups: { backups },
  }
}
