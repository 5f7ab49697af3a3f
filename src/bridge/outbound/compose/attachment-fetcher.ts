// Downloads an attachment of the helpdesk, or a file of no helpdesk (destination null), into a temporary file, and decides as
// which kind of file it is sent.

import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, Downstream, DownstreamFailure } from '../../../core/downstream.ts'
import type { Attachment } from '../../../core/helpdesk/callback.ts'
import type { OutgoingFile } from '../../../core/network/outgoing-content.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { makeScratch } from '../../../lib/scratch.ts'
import { SendRefusal } from './send-refusal.ts'
import type { Transcode } from './voice-note.ts'

type Deps = { downstream: Pick<Downstream, 'download'>; transcode: Transcode }

type FetchedAttachment = { file: OutgoingFile; [Symbol.asyncDispose](): Promise<void> }

const opus = 'audio/ogg; codecs=opus'
const unknownType = 'application/octet-stream'
const videos: ReadonlySet<string> = new Set(['video/mp4', 'video/3gpp', 'video/quicktime'])
const images: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])
// After these failures another attempt would fail too.
const lasting: ReadonlySet<DownstreamFailure> = new Set(['permanent', 'unexplained', 'gone'])

export function isDeclaredAudio({ mimeType, fileName }: Attachment): boolean {
  if (mimeType !== null && mimeType !== '') return mimeType.startsWith('audio')
  return /\.(mp3|ogg|oga|opus|m4a|aac|wav|amr|flac)$/i.test(fileName ?? '')
}

export async function fetchAttachment(
  { downstream, transcode }: Deps,
  destination: Destination | null,
  attachment: Attachment,
  signal: AbortSignal,
): Promise<FetchedAttachment> {
  await using stack = new AsyncDisposableStack()
  const directory = stack.adopt(await makeScratch(), (path) => rm(path, { recursive: true, force: true }))
  const path = join(directory, 'file')
  const declared = await download(downstream, destination, attachment, path, signal)
  const file = await decide({ path, ...declared }, directory, transcode, signal)
  const owned = stack.move()
  return { file, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function download(
  downstream: Pick<Downstream, 'download'>,
  destination: Destination | null,
  attachment: Attachment,
  path: string,
  signal: AbortSignal,
): Promise<{ mimeType: string; fileName: string }> {
  try {
    const { stream, mimeType, fileName } = await downstream.download(destination, attachment.url, signal)
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }), { signal })
    // The downloaded type wins over the type that the callback declares.
    const known = mimeType !== null && mimeType !== unknownType ? mimeType : (attachment.mimeType ?? unknownType)
    return { mimeType: known.toLowerCase(), fileName: attachment.fileName ?? fileName ?? 'file' }
  } catch (cause) {
    if (cause instanceof DownstreamError && lasting.has(cause.failure)) {
      // A file of no helpdesk has no name yet, and the reason says where it should be.
      const reason = destination ? unfetched(attachment.fileName, cause.message) : cause.message
      throw new SendRefusal(reason, { cause })
    }
    throw cause
  }
}

function unfetched(name: string | null, reason: string): string {
  return name === null ? writeReason('unnamedUnfetched', { reason }) : writeReason('unfetched', { name, reason })
}

/** WhatsApp plays Opus in Ogg as a voice note. An Ogg file can also hold other codecs. */
async function isOpus(path: string): Promise<boolean> {
  await using handle = await open(path)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(36), 0, 36, 0)
  if (bytesRead === 0) throw new SendRefusal(writeReason('emptyFile'))
  return buffer.toString('latin1', 0, 4) === 'OggS' && buffer.toString('latin1', 28) === 'OpusHead'
}

async function decide(
  { path, mimeType, fileName }: { path: string; mimeType: string; fileName: string },
  directory: string,
  transcode: Transcode,
  signal: AbortSignal,
): Promise<OutgoingFile> {
  const as = (kind: OutgoingFile['kind']): OutgoingFile => ({ kind, path, mimeType, fileName })
  if (await isOpus(path)) return { ...as('voice'), mimeType: opus }
  if (mimeType.startsWith('audio/')) {
    const voice = join(directory, 'voice.ogg')
    if (!(await transcode(path, voice, signal))) return as('audio')
    return {
      kind: 'voice',
      path: voice,
      mimeType: opus,
      fileName: `${fileName.slice(0, -extname(fileName).length || undefined)}.ogg`,
    }
  }
  if (images.has(mimeType)) return as('image')
  return as(videos.has(mimeType) ? 'video' : 'document')
}
