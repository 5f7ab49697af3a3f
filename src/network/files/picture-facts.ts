// Reads the size of a picture and makes its thumbnail, which a phone shows before it has loaded the picture.

import sharp from 'sharp'

type PictureFacts = { width: number; height: number; thumbnail?: Buffer; isAnimated: boolean }

const thumbnailEdge = 72

// Pictures come one by one, so a cache is useless and one thread is enough.
sharp.cache(false)
sharp.concurrency(1)

/** Undefined when the file is not a picture. A message can be sent without these facts. */
export async function pictureFacts(path: string, withThumbnail: boolean): Promise<PictureFacts | undefined> {
  try {
    const metadata = await sharp(path).metadata()
    const thumbnail = withThumbnail ? { thumbnail: await shrink(path) } : {}
    // The size as shown: a camera may store a picture rotated.
    const { width, height } = metadata.autoOrient
    return { width, height, ...thumbnail, isAnimated: (metadata.pages ?? 1) > 1 }
  } catch {
    return undefined
  }
}

function shrink(path: string): Promise<Buffer> {
  const edges = { width: thumbnailEdge, height: thumbnailEdge, fit: 'inside' as const }
  return sharp(path, { sequentialRead: true }).autoOrient().resize(edges).flatten().jpeg({ quality: 50 }).toBuffer()
}
