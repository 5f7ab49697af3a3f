// The refusal of everything that needs the import of history while the import is switched off.

import { BridgeError } from '../errors.ts'

export const historyDisabledSentence =
  'the import of history is switched off: set SERVICE_HISTORY_IMPORT_ENABLED to true'

export function historyDisabled(): BridgeError {
  return new BridgeError('SERVICE_HISTORY_DISABLED', historyDisabledSentence)
}
