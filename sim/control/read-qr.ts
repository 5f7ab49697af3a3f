// Reads the text of a QR code from a PNG, as the camera of a phone does.
import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { ControlError } from './fields.ts'

/** The module is CommonJS, so its default export is one level deeper. */
const { default: decode } = jsqr

export function readQr(png: Buffer): string {
  const { data, width, height } = readPicture(png)
  const found = decode(new Uint8ClampedArray(data), width, height)
  if (!found) throw new ControlError(422, 'there is no QR code in this picture')
  return found.data
}

function readPicture(png: Buffer): { data: Buffer; width: number; height: number } {
  try {
    return PNG.sync.read(png)
  } catch (error) {
    throw new ControlError(422, `this is not a PNG picture: ${String(error)}`)
  }
}
