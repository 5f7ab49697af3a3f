// Times in Chatwoot's JSON: Unix seconds in REST answers, ISO 8601 in webhooks, 0 for never.

export function unix(at: number): number {
  return Math.floor(at / 1000)
}

export function unixOrZero(at: number | null): number {
  return at === null ? 0 : unix(at)
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}
