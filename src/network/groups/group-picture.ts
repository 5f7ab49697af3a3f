// Makes the picture of a group from any picture: the network takes a square JPEG.

import sharp from 'sharp'
import { GroupError } from '../../core/group-administration.ts'

const edge = 640
/** A small file can hold a huge picture. */
const maxPixels = 64_000_000

/** The middle of the picture; a small picture is enlarged. */
export async function squareJpeg(picture: Buffer): Promise<Buffer> {
  try {
    return await sharp(picture, { limitInputPixels: maxPixels, sequentialRead: true })
      .autoOrient()
      .resize({ width: edge, height: edge, fit: 'cover' })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 80 })
      .toBuffer()
  } catch (cause) {
    throw new GroupError('refused', 'the file is not a picture that can be read', { cause })
  }
}
