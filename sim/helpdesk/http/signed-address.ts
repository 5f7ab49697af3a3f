// Signs and checks addresses that give a file for five minutes.

import { createHash } from 'node:crypto'

const validMs = 300_000

export function signAddress(url: string, key: string, now: number): string {
  const expires = String(now + validMs)
  return `${url}?expires=${expires}&signature=${signature(key, expires)}`
}

export function isOpen(query: URLSearchParams, key: string, now: number): boolean {
  const expires = query.get('expires') ?? ''
  return Number(expires) >= now && query.get('signature') === signature(key, expires)
}

function signature(key: string, expires: string): string {
  return createHash('sha256').update(`${key} ${expires}`).digest('hex').slice(0, 32)
}
