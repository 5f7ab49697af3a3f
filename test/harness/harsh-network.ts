// A simulated network that behaves as badly as the real one may: the backlog comes in small windows, new messages overtake it,
// an error in an acknowledgement settles nothing, and the accounts have moved to LIDs.

import type { SimNetworkOptions } from '../../sim/network/sim-network.ts'

export const harshNetwork: SimNetworkOptions = {
  window: 5,
  isBacklogOvertaken: true,
  nacksSettle: false,
  isMigrated: true,
}
