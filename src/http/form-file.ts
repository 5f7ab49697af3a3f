// Reads a file of a form that a caller sent as multipart/form-data.

import { BridgeError } from '../core/errors.ts'

/** `field` is the name of the field with the file. Throws SERVICE_BAD_REQUEST if there is no such file. */
export async function readFormFile(body: unknown, contentType: string, field: string): Promise<Buffer> {
  const file = Buffer.isBuffer(body) ? (await readForm(body, contentType)).get(field) : null
  if (!(file instanceof File)) throw new BridgeError('SERVICE_BAD_REQUEST', `${field} must be a file of the form`)
  return Buffer.from(await file.arrayBuffer())
}

async function readForm(body: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not a valid form', { cause })
  }
}
