// Secret keys reach Node's ciphers as key objects: Node 24 throws and catches two errors for each key given as bytes, which
// costs more than the ciphers themselves. The libraries give bytes, several dozen times per message.

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Keyed = (algorithm: string, key: unknown, ...rest: unknown[]) => unknown

const keyed = ['createHmac', 'createCipheriv', 'createDecipheriv'] as const

/** In Node's own module, the only place that all libraries take these functions from. */
export function useKeyObjects(): void {
  const functions = crypto as unknown as Record<(typeof keyed)[number], Keyed>
  for (const name of keyed) {
    const take = functions[name]
    functions[name] = (algorithm, key, ...rest) =>
      take(algorithm, key instanceof Uint8Array ? crypto.createSecretKey(key) : key, ...rest)
  }
  syncBuiltinESMExports()
}
