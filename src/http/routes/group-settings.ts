// Changes what a group is called, what its description says, and who may change it or write in it.

import { Type } from 'typebox'
import type { HttpApp } from '../http-app.ts'
import { responses } from '../schemas.ts'
import { about, adminOf, groupIdOf, GroupJid, GroupName, GroupParams, refuseBlankName } from './group-schemas.ts'
import type { GroupDeps } from './group-schemas.ts'

const Topic = Type.String({ maxLength: 2048, description: 'The description; an empty text removes it' })
const Locked = Type.Boolean({ description: 'Only administrators may change name, description and picture' })
const Announce = Type.Boolean({ description: 'Only administrators may write' })

export function addGroupSettingRoutes(app: HttpApp, deps: GroupDeps): void {
  addTextRoutes(app, deps)
  addSwitchRoutes(app, deps)
}

function addTextRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.post(
    '/api/instances/:name/groups/:jid/name',
    {
      schema: {
        ...about('renameGroup', 'Change the name of a group'),
        params: GroupParams,
        body: Type.Object({ name: GroupName }),
        response: responses({ 200: Type.Object({ jid: GroupJid, name: Type.String() }) }, 404, 409),
      },
    },
    async ({ params, body: { name }, actor }) => {
      refuseBlankName(name)
      await groups.rename(adminOf(deps, params.name, actor), groupIdOf(params.jid), name)
      return { jid: params.jid, name }
    },
  )
  app.post(
    '/api/instances/:name/groups/:jid/topic',
    {
      schema: {
        ...about('setGroupTopic', 'Change the description of a group'),
        params: GroupParams,
        body: Type.Object({ topic: Topic }),
        response: responses({ 200: Type.Object({ jid: GroupJid, topic: Type.String() }) }, 404, 409),
      },
    },
    async ({ params, body: { topic }, actor }) => {
      await groups.setTopic(adminOf(deps, params.name, actor), groupIdOf(params.jid), topic)
      return { jid: params.jid, topic }
    },
  )
}

function addSwitchRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.post(
    '/api/instances/:name/groups/:jid/locked',
    {
      schema: {
        ...about('setGroupLocked', 'Say who may change the name, the description and the picture of a group'),
        params: GroupParams,
        body: Type.Object({ locked: Locked }),
        response: responses({ 200: Type.Object({ jid: GroupJid, locked: Locked }) }, 404, 409),
      },
    },
    async ({ params, body: { locked }, actor }) => {
      await groups.setLocked(adminOf(deps, params.name, actor), groupIdOf(params.jid), locked)
      return { jid: params.jid, locked }
    },
  )
  app.post(
    '/api/instances/:name/groups/:jid/announce',
    {
      schema: {
        ...about('setGroupAnnounce', 'Say who may write in a group'),
        params: GroupParams,
        body: Type.Object({ announce: Announce }),
        response: responses({ 200: Type.Object({ jid: GroupJid, announce: Announce }) }, 404, 409),
      },
    },
    async ({ params, body: { announce }, actor }) => {
      await groups.setAnnounce(adminOf(deps, params.name, actor), groupIdOf(params.jid), announce)
      return { jid: params.jid, announce }
    },
  )
}
