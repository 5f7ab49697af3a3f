// Hands Node keys as key objects: to find out that a key is plain bytes it throws and catches two exceptions, each time.
//
// A frame and the Signal step behind it use about a dozen keys, so that this is a quarter of what opening a message costs.
// The library's modules have their own bindings of these functions, so they are replaced in Node's module, for all.

import crypto, { createSecretKey } from 'node:crypto'
import type { CipherKey, KeyObject } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type TakesKey = (algorithm: string, key: CipherKey, ...rest: never[]) => unknown
type Names = 'createHmac' | 'createCipheriv' | 'createDecipheriv'

const names: readonly Names[] = ['createHmac', 'createCipheriv', 'createDecipheriv']

export function wrapKeys(): void {
  const functions = crypto as unknown as Record<Names, TakesKey>
  for (const name of names) {
    const original = functions[name]
    functions[name] = (algorithm, key, ...rest) => original(algorithm, wrapped(key), ...rest)
  }
  syncBuiltinESMExports()
}

function wrapped(key: CipherKey): CipherKey | KeyObject {
  return key instanceof Uint8Array ? createSecretKey(key) : key
}
