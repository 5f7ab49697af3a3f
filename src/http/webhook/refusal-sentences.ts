// Says in words why a callback is refused, and what an operator can do about it.

import type { InstanceName } from '../../core/ids.ts'

export type RefusalReason =
  'not_signed' | 'wrong_signature' | 'clock_differs' | 'unknown_instance' | 'other_inbox' | 'unreadable'

export const sentencesOfRefusals: Readonly<Record<RefusalReason, string>> = {
  not_signed: 'the callback carries no signature, but a secret is configured',
  wrong_signature: 'the signature of the callback does not fit the configured secret',
  clock_differs: 'the clock of the helpdesk differs from ours by more than the 300 s for which signatures are valid',
  unknown_instance: 'the callback names an instance that does not exist',
  other_inbox: 'the callback is of another helpdesk inbox than that of the instance',
  unreadable: 'the callback cannot be read',
}

export const refusalReasons = Object.keys(sentencesOfRefusals)

const secretSettings = 'WEBHOOK_HMAC_SECRET, or webhook_hmac_secret of the tenant,'

export const curesOfRefusals: Readonly<Record<RefusalReason, (instance: InstanceName) => string>> = {
  not_signed: (name) =>
    `Chatwoot signs its callbacks from 4.13 on: update Chatwoot; for an older one empty ${secretSettings} and repeat POST /api/instances/${name}/inbox; that call forgets a stored secret; a proxy before the service must not remove the header X-Chatwoot-Signature`,
  wrong_signature: (name) =>
    `set ${secretSettings} to the secret of the helpdesk inbox, or let POST /api/instances/${name}/inbox read it from Chatwoot`,
  clock_differs: () => 'set the clocks of both machines, and keep them right with NTP',
  unknown_instance: (name) =>
    `set the webhook URL of the helpdesk inbox to an address that ends with /api/instances/<name of an instance>/webhook, or create the instance ${name}`,
  other_inbox: (name) =>
    `give that helpdesk inbox the webhook URL of its own instance, or set inbox_id of the instance ${name} to the inbox that calls`,
  unreadable: () =>
    'only Chatwoot may call this address: check what calls it; if it is Chatwoot, update the service to a version that knows this Chatwoot',
}
