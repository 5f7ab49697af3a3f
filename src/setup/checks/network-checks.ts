// Checks the WhatsApp side: the link of the account, the way to WhatsApp, and the client version.

import type { InstanceState } from '../../core/instance.ts'
import type { ClientVersionState } from '../../core/network.ts'
import type { Unanswered } from '../../core/network/closing.ts'
import { broken, fine } from './finding.ts'
import type { Finding } from './finding.ts'

/** What the record of an instance says of its link. */
export type LinkFacts = { name: string; state: InstanceState; isLinked: boolean; lastError: string | null }

/** How WhatsApp answered: because an account is connected, because it was asked, or not at all. */
export type Reach = { by: 'account' } | { by: 'question' } | ({ by: 'none' } & Unanswered)

export function checkLink({ name: instance, state, isLinked, lastError }: LinkFacts): Finding {
  const name = 'linked'
  const why = lastError === null ? '' : ` (${lastError})`
  const scan = `scan the code of GET /api/instances/${instance}/qr with the phone`
  const pair = `POST /api/instances/${instance}/refresh-qr, then ${scan}`
  switch (state) {
    case 'ready':
    case 'connected':
      return fine(name, 'the account is linked and connected')
    case 'qr_pending':
      // With an error there is no code yet.
      return broken(name, `no phone is linked yet${why}`, lastError === null ? scan : `remove that cause, then ${scan}`)
    case 'logged_out':
      return broken(name, `the link to the phone has ended${why}`, pair)
    case 'paired':
    case 'connecting':
      return broken(name, `the account is being connected${why}`, 'repeat the check in a minute')
    case 'disconnected': {
      if (!isLinked) return broken(name, `no phone is linked${why}`, pair)
      const cure = `the service tries again by itself; POST /api/instances/${instance}/restart tries at once`
      return broken(name, `the account is linked, but not connected${why}`, cure)
    }
  }
}

export function checkReach(reach: Reach): Finding {
  const name = 'whatsapp_reachable'
  if (reach.by === 'account') return fine(name, 'WhatsApp can be reached: an account is connected')
  if (reach.by === 'question') return fine(name, 'WhatsApp can be reached')
  return broken(name, `WhatsApp cannot be reached: ${reach.reason}`, reach.cure)
}

export function checkVersion({ current, isRefused, isPinned }: ClientVersionState): Finding {
  const name = 'client_version'
  if (!isRefused) return fine(name, `WhatsApp has not refused the client version ${current}`)
  const cure = isPinned
    ? 'remove SERVICE_NETWORK_VERSION, so that the service uses the newest version'
    : 'update the service; until then it asks WhatsApp for a newer version and tries each instance every 15 min'
  return broken(name, `WhatsApp refuses the client version ${current}`, cure)
}
