// What a check of the set-up says, in words for the operator.

/** In the order in which they are shown. */
export const checkNames = [
  'helpdesk_configured',
  'helpdesk_reachable',
  'clock',
  'token',
  'account',
  'role',
  'api_inbox',
  'webhook_address',
  'webhook_secret',
  'conversation_mode',
  'round_trip',
  'linked',
  'whatsapp_reachable',
  'client_version',
  'ffmpeg',
  'disk_space',
  'encryption_key',
  'public_listener',
] as const

export type CheckName = (typeof checkNames)[number]

/**
 * ok        as it should be
 * advice    messages flow, but something is missing or wrong
 * broken    messages do not flow, or the service is open to strangers
 * untested  could not be tested, because another check is broken or the helpdesk is too old
 */
export type CheckResult = 'ok' | 'advice' | 'broken' | 'untested'

/** `cure` says what the operator can do; null when there is nothing to do. */
export type Finding = { name: CheckName; result: CheckResult; sentence: string; cure: string | null }

export function fine(name: CheckName, sentence: string): Finding {
  return { name, result: 'ok', sentence, cure: null }
}

export function advised(name: CheckName, sentence: string, cure: string): Finding {
  return { name, result: 'advice', sentence, cure }
}

export function broken(name: CheckName, sentence: string, cure: string): Finding {
  return { name, result: 'broken', sentence, cure }
}

export function untested(name: CheckName, why: string): Finding {
  return { name, result: 'untested', sentence: `not tested: ${why}`, cure: null }
}
