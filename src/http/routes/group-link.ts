// The invite link of a group, and its picture.

import { Type } from 'typebox'
import { BridgeError } from '../../core/errors.ts'
import { mimeByContent, sniffBytes } from '../../lib/mime-by-content.ts'
import { readFormFile } from '../form-file.ts'
import type { HttpApp } from '../http-app.ts'
import { responses } from '../schemas.ts'
import { about, adminOf, groupIdOf, GroupJid, GroupParams } from './group-schemas.ts'
import type { GroupDeps } from './group-schemas.ts'

const mostPictureBytes = 5 * 1024 ** 2
/** The lines of the form around the picture. */
const formBytes = 64 * 1024
const pictureTypes = ['image/jpeg', 'image/png', 'image/webp']

const Link = Type.Object(
  { jid: GroupJid, link: Type.String({ description: 'Every person who opens the link can join' }) },
  { title: 'GroupLink' },
)
const PictureForm = Type.Object(
  {
    picture: Type.Unsafe<Buffer>({
      type: 'string',
      format: 'binary',
      description: 'A JPEG, PNG or WebP file of 5 MB at most. It is cut to a square',
    }),
  },
  { title: 'GroupPicture' },
)

export function addGroupLinkRoutes(app: HttpApp, deps: GroupDeps): void {
  addInviteRoutes(app, deps)
  addPictureRoute(app, deps)
}

function addInviteRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.get(
    '/api/instances/:name/groups/:jid/invite',
    {
      schema: {
        ...about('getGroupInvite', 'The link with which people join a group'),
        params: GroupParams,
        response: responses({ 200: Link }, 404, 409),
      },
    },
    async ({ params: { name, jid } }) => {
      return { jid, link: linkOf(await groups.inviteCode(deps.instances.get(name).record.name, groupIdOf(jid))) }
    },
  )
  app.delete(
    '/api/instances/:name/groups/:jid/invite',
    {
      schema: {
        ...about('revokeGroupInvite', 'Make the invite link of a group useless; the answer has the new one'),
        params: GroupParams,
        response: responses({ 200: Link }, 404, 409),
      },
    },
    async ({ params: { name, jid }, actor }) => {
      return { jid, link: linkOf(await groups.revokeInvite(adminOf(deps, name, actor), groupIdOf(jid))) }
    },
  )
}

function addPictureRoute(app: HttpApp, deps: GroupDeps): void {
  app.post(
    '/api/instances/:name/groups/:jid/picture',
    {
      bodyLimit: mostPictureBytes + formBytes,
      config: { form: PictureForm },
      schema: {
        ...about('setGroupPicture', 'Change the picture of a group'),
        params: GroupParams,
        response: responses({ 200: Type.Object({ jid: GroupJid, changed: Type.Boolean() }) }, 404, 409),
      },
    },
    async ({ params: { name, jid }, body, headers, actor }) => {
      const admin = adminOf(deps, name, actor)
      const picture = readFormFile(body, headers['content-type'] ?? '', 'picture')
      checkPicture(picture)
      await deps.groups.setPicture(admin, groupIdOf(jid), picture)
      return { jid, changed: true }
    },
  )
}

function checkPicture(picture: Buffer): void {
  if (picture.length > mostPictureBytes) {
    throw new BridgeError('SERVICE_BODY_TOO_LARGE', 'picture is larger than 5 MB')
  }
  if (pictureTypes.includes(mimeByContent(picture.subarray(0, sniffBytes), null) ?? '')) return
  throw new BridgeError('SERVICE_UNSUPPORTED_MEDIA_TYPE', 'picture is not a JPEG, PNG or WebP file')
}

function linkOf(code: string): string {
  return `https://chat.whatsapp.com/${code}`
}
