// Says which test files import a source file, directly or through others, and over how many steps.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

// Types are gone when the code runs.
const typeImports = /^import type [^']*'[^']*'/gm

export class ImportGraph {
  readonly #imports = new Map<string, readonly string[]>()

  /** The number of imports between the test and the file; undefined when the test does not reach the file. */
  distance(test: string, file: string): number | undefined {
    const seen = new Set([test])
    for (let [steps, ring] = [0, [test]]; ring.length > 0; steps++) {
      if (ring.includes(file)) return steps
      ring = ring.flatMap((each) => this.#importsOf(each)).filter((each) => !seen.has(each) && seen.add(each))
    }
    return undefined
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file)
    if (known) return known
    const text = (existsSync(file) ? readFileSync(file, 'utf8') : '').replace(typeImports, '')
    const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName)
    // A worker thread or a process of its own is started with the address of its file.
    const started = [...text.matchAll(/new URL\('([^']+\.ts)'/g)].map(([, name = '']) => name)
    const found = [...imported, ...started]
      .filter((name) => name.startsWith('.'))
      .map((name) => join(dirname(file), name).replaceAll('\\', '/'))
    this.#imports.set(file, found)
    return found
  }
}
