// The addresses of attachments: they need no token and redirect to the file. Disk storage serves the file here.

import { Type } from 'typebox'
import { iso } from '../../json/times.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'
import { signAddress } from '../signed-address.ts'
import { sendFile } from '../storage-server.ts'
import { releases } from '../../versions.ts'

const params = Type.Object({ key: Type.String(), filename: Type.String() })

export function addFileRoutes(app: HttpApp, office: Office): void {
  const { desk, files } = office
  for (const kind of ['blobs', 'representations']) {
    app.get(`/rails/active_storage/${kind}/redirect/:key/:filename`, { schema: { params } }, (request, reply) => {
      const blob = desk.state.blobs.get(request.params.key)
      if (!blob) return reply.code(404).send()
      const isDisk = desk.settings.storage === 'disk'
      const target = isDisk
        ? `${files.frontendUrl}/rails/active_storage/disk/${blob.key}/${encodeURIComponent(blob.filename)}`
        : `${files.storageUrl}/bucket/${blob.key}`
      return reply.redirect(signAddress(target, blob.key, desk.clock.now()), 302)
    })
  }
  app.get('/rails/active_storage/disk/:key/:filename', (request, reply) => {
    reply.hijack()
    sendFile(office, (request.params as { key: string }).key, request.raw, reply.raw)
  })
  app.get('/api', () => ({
    version: releases[desk.settings.version],
    timestamp: iso(desk.clock.now()),
    queue_services: 'ok',
    data_services: 'ok',
  }))
  app.get('/health', () => ({ status: 'woot' }))
}
