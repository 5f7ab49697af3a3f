// Keeps with the credentials for how many days the pairing asked the phone for its history.

import type { AuthenticationCreds } from '../library/library.ts'

/** The library stores this field with the credentials and does not use it. */
type Additional = { historyDays?: number } | undefined

/** Null when the phone was not asked for its full history. */
export function historyDaysOf({ additionalData }: Pick<AuthenticationCreds, 'additionalData'>): number | null {
  return (additionalData as Additional)?.historyDays ?? null
}

export function withHistoryDays(creds: AuthenticationCreds, days: number | null): AuthenticationCreds {
  const additional: Additional = days === null ? undefined : { historyDays: days }
  return { ...creds, additionalData: additional }
}
