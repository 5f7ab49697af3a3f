// Renews a file that a companion found missing: the phone uploads its copy again and tells the companions the new path.
import { createCipheriv } from 'node:crypto'
import { proto } from '../library.ts'
import type { ReceivedMessage } from '../people/received-message.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { derive } from '../signal/primitives.ts'
import { child, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import { carriedMedia } from './media-contents.ts'
import type { MediaHost } from './media-host.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = { host: MediaHost; random: SeededRandom; clock: SimClock; from: string }

export function renewMedia(request: Stanza, received: ReceivedMessage | undefined, deps: Deps): Stanza {
  const id = request.attrs.id ?? ''
  const media = received && carriedMedia(received.message)
  const bytes = media && deps.host.get(media.directPath)
  const attributes = { from: deps.from, type: 'mediaretry', id, t: unixSeconds(deps.clock) }
  const about = child(request, 'rmr') ?? stanza('rmr')
  if (!bytes) return stanza('notification', attributes, [about, stanza('error', { code: '2' })])
  const { directPath } = deps.host.put(bytes)
  const result = proto.MediaRetryNotification.ResultType.SUCCESS
  const plain = proto.MediaRetryNotification.encode({ stanzaId: id, directPath, result }).finish()
  const key = derive(media.description.mediaKey, Buffer.alloc(0), 'WhatsApp Media Retry Notification', 32)
  const iv = deps.random.bytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  const encrypted = stanza('encrypt', {}, [stanza('enc_p', {}, sealed), stanza('enc_iv', {}, iv)])
  return stanza('notification', attributes, [encrypted, about])
}
