// The endpoint for files that are uploaded before their message.

import { storeBlob } from '../../desk/uploaded-file.ts'
import { blobUrl } from '../../json/file-addresses.ts'
import { UploadCreate, UploadCreated } from '../../schemas/message-schemas.ts'
import type { HttpApp } from '../http-app.ts'
import type { Office } from '../office.ts'

export function addUploadRoute(app: HttpApp, { desk, files }: Office): void {
  app.post('/upload', { schema: { body: UploadCreate, response: { 200: UploadCreated } } }, (request) => {
    const blob = storeBlob(desk, request.body.attachment)
    return { file_url: blobUrl(files, blob), blob_id: blob.key }
  })
}
