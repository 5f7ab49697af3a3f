// Default answers about files: the upload address and profile pictures.
import type { GroupRegistry } from '../groups/group-registry.ts'
import { SimGroup } from '../groups/sim-group.ts'
import type { Directory } from '../server/directory.ts'
import { IqError, type IqTable, type Query } from '../server/iq-router.ts'
import { isGroupJid } from '../wire/jid.ts'
import { bytesOf, stanza } from '../wire/stanza.ts'
import type { MediaHost, StoredMedia } from './media-host.ts'
import type { Picture, PictureOwner, Pictures } from './pictures.ts'

type Deps = { host: MediaHost; directory: Directory; groups: GroupRegistry; pictures: Pictures }

export function mediaAnswers({ host, directory, groups, pictures }: Deps): IqTable {
  const hosted = new WeakMap<Picture, StoredMedia>()
  const ownerOf = ({ iq, device }: Query): PictureOwner => {
    const { target } = iq.attrs
    if (target === undefined) return device.user
    const owner = isGroupJid(target) ? groups.find(target) : directory.find(target)
    if (!owner) throw new IqError(404, 'item-not-found')
    return owner
  }
  /** A user changes the own picture, and the pictures of groups if the group allows it. */
  const changeableBy = (query: Query): PictureOwner => {
    const owner = ownerOf(query)
    if (owner instanceof SimGroup) owner.mayEdit(query.device.user)
    else if (owner !== query.device.user) throw new IqError(401, 'not-authorized')
    return owner
  }
  return {
    'w:m set media_conn': () => {
      const upload = stanza('host', { hostname: host.host, maxContentLengthBytes: '100000000' })
      return [stanza('media_conn', { auth: 'simulated', ttl: '300', auth_ttl: '21600', max_buckets: '12' }, [upload])]
    },
    'w:profile:picture get picture': (query) => {
      const { picture } = ownerOf(query)
      if (!picture) throw new IqError(404, 'item-not-found')
      const { url, directPath } = hosted.get(picture) ?? host.put(picture.jpeg, 'image/jpeg')
      hosted.set(picture, { url, directPath })
      const type = query.content?.attrs.type ?? 'preview'
      return [stanza('picture', { id: picture.id, type, url, direct_path: directPath })]
    },
    'w:profile:picture set picture': (query) => {
      const owner = changeableBy(query)
      const jpeg = bytesOf(query.content)
      if (!jpeg || !isJpeg(jpeg)) throw new IqError(406, 'not-acceptable')
      pictures.set(owner, jpeg, query.device.user)
      return [stanza('picture', { id: owner.picture?.id })]
    },
    'w:profile:picture set': (query) => {
      pictures.set(changeableBy(query), undefined, query.device.user)
      return []
    },
  }
}

function isJpeg(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8
}
