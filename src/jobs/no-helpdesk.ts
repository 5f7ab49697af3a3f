// The refusal of a job that needs a helpdesk inbox. Without one the job would wait for ever.

import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'

export function noHelpdesk(instance: InstanceName): BridgeError {
  const sentence = `no helpdesk inbox is configured for the instance ${JSON.stringify(instance)}: set DOWNSTREAM_* or its tenant, and its inbox`
  return new BridgeError('SERVICE_NO_HELPDESK', sentence)
}
