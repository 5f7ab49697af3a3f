// Reads the files that operators deploy with, and the documents and settings that they must agree with.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { allSettings, loadConfig } from '../../../src/config/config.ts'
import type { Config } from '../../../src/config/config.ts'

export const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
export const standardPort = Number(allSettings().find(({ name }) => name === 'PORT')?.standard)

/** What the service may need to stop besides SERVICE_SHUTDOWN_GRACE, as docs/operations.md promises. */
const stopMs = 15_000

/** A stop with the standard settings takes no longer. */
export const longestStopSeconds = (configOf({}).lifecycle.shutdownGrace + stopMs) / 1000

export function readYaml(path: string): unknown[] {
  return parseAllDocuments(readFileSync(path, 'utf8'), { strict: true, uniqueKeys: true }).map((document) => {
    assert.deepEqual(document.errors, [], path)
    return document.toJS() as unknown
  })
}

/** Every variable is a setting and has a value that the service takes. */
export function configOf(variables: Readonly<Record<string, string>>): Config {
  const known = new Set(allSettings().map(({ name }) => name))
  const unknown = Object.keys(variables).filter((name) => !known.has(name))
  assert.deepEqual(unknown, [], 'variables that are no settings')
  return loadConfig(variables)
}

/** The settings that every deployment behind a proxy has. */
export function assertBehindProxy(variables: Readonly<Record<string, string>>): void {
  const { http } = configOf({ ...variables, SERVICE_API_TOKEN: 'token' })
  assert.equal(http.trustProxy, true)
  assert.equal(http.healthDetails, 'token')
}

/** The instructions of a Dockerfile, in order; a line that ends with a backslash goes on in the next one. */
export function readDockerfile(): { name: string; rest: string }[] {
  const lines = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', ' ').split('\n')
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(/\s+/)
      return { name, rest: rest.join(' ') }
    })
}
