// The parts around a service: a simulated network, a simulated helpdesk, a database, and the settings that join them.

import '../sim/harness/quiet.ts'
import { calm } from '../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import type { SimNetworkOptions } from '../../sim/network/sim-network.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { migratedLocation } from './databases.ts'
import type { TestLocation } from './databases.ts'
import { destinationSettings } from './destination.ts'
import { authorityFile } from './media-authority.ts'
import { usualEngine } from './stranger.ts'

export type PartOptions = {
  engine?: EngineName
  /** Use this database instead of a new one. */
  place?: TestLocation
  /** Settings of the service beside those that join the parts. */
  environment?: Record<string, string>
  network?: SimNetworkOptions
  helpdesk?: SimHelpdeskOptions
}

export type Parts = {
  network: SimNetwork
  helpdesk: SimHelpdesk
  place: TestLocation
  environment: Record<string, string>
}

/** Opens the parts; all of them go with the stack. */
export async function openParts(stack: AsyncDisposableStack, options: PartOptions): Promise<Parts> {
  const network = stack.use(await SimNetwork.start(options.network))
  const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm, ...options.helpdesk }))
  const place = options.place ?? stack.use(await migratedLocation(options.engine ?? usualEngine))
  const environment = {
    SERVICE_NETWORK_CA: await authorityFile(network, stack),
    ...destinationSettings(helpdesk),
    ...options.environment,
  }
  return { network, helpdesk, place, environment }
}
