// Says whether Node can read a mutant. A mutant with broken syntax fails every test, and that says nothing about the tests.

import { stripTypeScriptTypes } from 'node:module'

export function isReadable({ text }: { text: string }): boolean {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}
