// Writes the files that are made from code, or with --check says which of them are out of date.

import { readFileSync, writeFileSync } from 'node:fs'
import { renderOutboxPage } from './render-outbox.ts'
import { renderShownPage } from './render-shown.ts'
import { renderEnvExample, renderSettingsPage } from './render-settings.ts'
import { vendoredFiles } from './vendor-browser.ts'

const files: Record<string, () => string | Promise<string>> = {
  '.env.example': renderEnvExample,
  'docs/configuration.md': renderSettingsPage,
  'docs/outbox.md': renderOutboxPage,
  'docs/shown.md': renderShownPage,
  ...vendoredFiles,
}

const checking = process.argv.includes('--check')
const stale: string[] = []

for (const [name, render] of Object.entries(files)) {
  const text = await render()
  if (read(name) === text) continue
  stale.push(name)
  if (checking) console.error(`${name} is out of date: run npm run generate`)
  else writeFileSync(name, text)
}
if (checking && stale.length > 0) process.exitCode = 1

function read(name: string): string {
  try {
    return readFileSync(name, 'utf8')
  } catch {
    return ''
  }
}
