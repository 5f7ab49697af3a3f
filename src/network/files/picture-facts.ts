// What a phone shows of a picture before it has loaded it: its size and a tiny copy.

import sharp from 'sharp'

export type PictureFacts = { width: number; height: number; thumbnail?: Buffer; isAnimated: boolean }

const thumbnailEdge = 72

// Pictures come one by one: nothing is worth keeping, and one thread is enough.
sharp.cache(false)
sharp.concurrency(1)

/** Undefined for what is no picture; a message is sent without it just as well. */
export async function pictureFacts(path: string, withThumbnail: boolean): Promise<PictureFacts | undefined> {
  try {
    const metadata = await sharp(path).metadata()
    const thumbnail = withThumbnail ? { thumbnail: await shrink(path) } : {}
    // As it is shown: a camera may have stored the picture lying on its side.
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
