// Serves the agent's page: plain files without a build step.

import { readFile } from 'node:fs/promises'
import type { HttpApp } from '../http-app.ts'

const pages: Record<string, { file: string; type: string }> = {
  '/app': { file: 'index.html', type: 'text/html' },
  '/app/view.css': { file: 'view.css', type: 'text/css' },
}

export function addViewRoutes(app: HttpApp): void {
  for (const [path, { file, type }] of Object.entries(pages)) {
    app.get(path, async (_, reply) => {
      const text = await readFile(new URL(`../../view/${file}`, import.meta.url), 'utf8')
      return reply.type(`${type}; charset=utf-8`).send(text)
    })
  }
}
