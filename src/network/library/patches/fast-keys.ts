// Corrects slow ciphers: the library passes keys as bytes, which Node 24 handles slowly. No upstream issue is known.
//
// Node throws and catches two exceptions to find out that a key is plain bytes. A frame and its Signal step use about a
// dozen keys, and a quarter of the cost of opening a message goes there. The patch passes key objects instead. The library's
// modules import these functions by name, so the patch replaces them in Node's own module, for the whole process.

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
