// The reference of the API as a page of the site. The service itself describes its routes.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp } from '../src/app/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { operationsOf } from '../src/http/reference/api-document.ts'
import type { ApiDocument, Operation } from '../src/http/reference/api-document.ts'
import { renderReference } from '../src/http/reference/reference-page.ts'
import { reference } from './pages.ts'

const pictures = ['reference.css', 'favicon.ico', 'brand-asset.png']

export async function writeReference(folder: string): Promise<Operation[]> {
  const document = await readApiDocument()
  const own = join(folder, dirname(reference.output))
  mkdirSync(own, { recursive: true })
  for (const name of pictures) cpSync(join('static', name), join(own, name))
  writeFileSync(join(own, 'openapi.json'), JSON.stringify(document))
  const page = renderReference(document, { address: '../index.html', text: 'Documentation' })
  writeFileSync(join(folder, reference.output), page)
  return operationsOf(document)
}

/** Starts a service without accounts on a database of its own, and asks it. */
async function readApiDocument(): Promise<ApiDocument> {
  const place = mkdtempSync(join(tmpdir(), 'causeway-reference-'))
  try {
    const config = loadConfig({
      ...{ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' },
      DATABASE_URL: `file:${join(place, 'reference.db')}`,
      // A known version, so that the service asks no other server.
      SERVICE_NETWORK_VERSION: '2,3000,1',
    })
    await using app = await createApp(config)
    await app.start()
    const answer = await fetch(`${app.url}/static/openapi.json`)
    return (await answer.json()) as ApiDocument
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
