// Sends files: uploads them to the media host and sends them one by one, as an album, or as view-once.
import type { proto } from '../library.ts'
import type { MediaKind } from '../media/media-cipher.ts'
import {
  downloadMedia,
  mediaMessage,
  uploadMedia,
  type FileFields,
  type MediaOptions,
} from '../media/media-contents.ts'
import { stanza } from '../wire/stanza.ts'
import { Author, chatOf, type Recipient, type TextOptions } from './author.ts'
import type { SendOptions, SentMessage } from './sent-message.ts'
import type { ReceivedMessage } from './received-message.ts'
import { album, inAlbum } from './rich-contents.ts'

export type AlbumFile = MediaOptions & { kind: 'image' | 'video' }

export class FileAuthor extends Author {
  /** Uploads a file and returns the fields that describe it in a message, for contents that a test makes by hand. */
  upload(kind: MediaKind, bytes: Buffer, mimetype?: string): FileFields {
    return uploadMedia(kind, { bytes, ...(mimetype === undefined ? {} : { mimetype }) }, this.#mediaDeps())
  }

  /** Sends a file of any kind. The media host has the file when this returns. */
  media(to: Recipient, kind: MediaKind, media: MediaOptions, options: TextOptions = {}): SentMessage {
    return this.send(to, this.#file(to, kind, media, options), options)
  }

  /** Sends the announcement of an album and then its files, in order. */
  album(
    to: Recipient,
    files: AlbumFile[],
    options: Omit<SendOptions, 'id'> = {},
  ): { album: SentMessage; files: SentMessage[] } {
    const images = files.filter(({ kind }) => kind === 'image').length
    const announced = this.send(to, album(images, files.length - images), options)
    const sent = files.map(({ kind, ...media }) => {
      return this.send(to, inAlbum(this.refTo(announced), this.#file(to, kind, media, options)), options)
    })
    return { album: announced, files: sent }
  }

  /** Sends a view-once picture. Phones get the picture; companions get only a notice. */
  viewOnce(to: Recipient, options: SendOptions = {}): string {
    const notice = stanza('unavailable', { type: 'view_once_unavailable_fanout' })
    const message = { viewOnceMessageV2: { message: { imageMessage: { viewOnce: true } } } }
    return this.writeNotice(chatOf(to), notice, message, options)
  }

  /** Fetches the file of a message from the media host and checks every hash. */
  download(received: ReceivedMessage): Buffer {
    return downloadMedia(received.message, this.parts.media)
  }

  #file(to: Recipient, kind: MediaKind, media: MediaOptions, options: TextOptions): proto.IMessage {
    const contextInfo = this.contextFor(to, options)
    return mediaMessage(kind, contextInfo ? { ...media, contextInfo } : media, this.#mediaDeps())
  }

  #mediaDeps(): Parameters<typeof uploadMedia>[2] {
    return { host: this.parts.media, random: this.random, clock: this.parts.clock }
  }
}
