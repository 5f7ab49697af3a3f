// A QR code as a picture that a phone can scan from any screen.

import { toBuffer } from 'qrcode'

const pixels = 600

export function drawQr(text: string): Promise<Buffer> {
  return toBuffer(text, { width: pixels, margin: 2, errorCorrectionLevel: 'L' })
}
