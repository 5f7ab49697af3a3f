// The paths that browsers ask for by themselves: the root, which leads to the dashboard, and the icon.

import { readFileSync } from 'node:fs'
import type { HttpApp } from '../http-app.ts'

const open = { config: { public: true as const }, schema: { hide: true } }
const day = 86_400

export const entryPaths: readonly string[] = ['/', '/favicon.ico']

export function addEntryPages(app: HttpApp, staticFiles: string): void {
  // A relative target stays right behind a proxy that serves us under a path of its own.
  app.get('/', open, (_request, reply) => reply.redirect('static/index.html'))
  const icon = readFileSync(`${staticFiles}favicon.ico`)
  app.get('/favicon.ico', open, (_request, reply) =>
    reply.type('image/x-icon').header('cache-control', `public, max-age=${day}`).send(icon),
  )
}
