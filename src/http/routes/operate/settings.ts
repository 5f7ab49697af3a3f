// GET /api/settings: the settings that differ from their defaults, and the versions of everything.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { ClientVersionState } from '../../../core/network.ts'
import type { HttpApp } from '../../http-app.ts'

export type SettingsDeps = {
  /** Values are as they may be shown. */
  differing: readonly { name: string; value: string; standard: string; isSecret: boolean }[]
  build: { version: string; library: string }
  engine: 'sqlite' | 'postgres'
  databaseVersion: () => Promise<string>
  clientVersion: () => Pick<ClientVersionState, 'current'>
}

const SettingBody = Type.Object(
  {
    name: Type.String(),
    value: Type.String({ description: 'Without passwords and whole phone numbers; "set" for a secret' }),
    default: Type.String(),
    secret: Type.Boolean(),
  },
  { title: 'Setting' },
)
const Versions = Type.Object(
  {
    service: Type.String(),
    node: Type.String(),
    library: Type.String({ description: 'The library that speaks with WhatsApp' }),
    sqlite: Type.Optional(Type.String({ description: 'With the embedded database' })),
    postgres: Type.Optional(Type.String({ description: 'With PostgreSQL' })),
    client: Type.String({ description: 'The client version that the service introduces itself with to WhatsApp' }),
  },
  { title: 'Versions' },
)

export function addSettingsRoute(app: HttpApp, deps: SettingsDeps): void {
  app.get(
    '/api/settings',
    {
      schema: {
        operationId: 'listSettings',
        tags: ['operations'],
        summary: 'The settings of the environment that differ from their defaults, and all versions',
        response: { 200: Type.Object({ settings: Type.Array(SettingBody), versions: Versions }) },
      },
    },
    async () => ({ settings: listSettings(deps), versions: await readVersions(deps) }),
  )
}

export function listSettings({ differing }: SettingsDeps): Static<typeof SettingBody>[] {
  return differing.map(({ name, value, standard, isSecret }) => {
    return { name, value: isSecret ? 'set' : value, default: standard, secret: isSecret }
  })
}

export async function readVersions(deps: SettingsDeps): Promise<Static<typeof Versions>> {
  const { build, engine, databaseVersion, clientVersion } = deps
  return {
    service: build.version,
    node: process.version,
    library: build.library,
    [engine]: await databaseVersion(),
    client: clientVersion().current,
  }
}
