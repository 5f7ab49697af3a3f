// Which devices a message must be sealed for: remembered, and asked of the server where nothing is remembered.

import type { DeviceCache } from '../account/device-cache.ts'
import { jidDecode, jidEncode, jidNormalizedUser } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { nodesOf } from '../library/nodes.ts'
import { askAboutUsers } from '../queries/user-sync.ts'
import type { Ask, UserAnswer } from '../queries/user-sync.ts'

export type Device = { user: string; device: number; jid: string; isHosted: boolean }
/** As the library keeps them in the cache it shares. */
type Kept = { user: string; device: number; server: JidServer; domainType: number | undefined }
type JidServer = NonNullable<ReturnType<typeof jidDecode>>['server']
/** `unnamed` are those the server did not speak of; those without devices have none. */
export type Found = { devices: Device[]; unnamed: string[]; without: string[] }

type Deps = { socket: WASocket; cache: DeviceCache; ask: Ask }

const about = [
  { tag: 'devices', attrs: { version: '2' } },
  { tag: 'lid', attrs: {} },
] as const

export class DeviceDirectory {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Grows with every change of what is remembered. */
  get revision(): number {
    return this.#deps.cache.revision
  }

  async find(jids: readonly string[]): Promise<Found> {
    const { cache } = this.#deps
    const asked = jids.map((jid) => jidNormalizedUser(jid))
    const known = await cache.getAll<Kept[]>(asked.map(userOf))
    const unknown = asked.filter((jid) => !known.has(userOf(jid)))
    const answers = unknown.length > 0 ? await this.#ask(unknown) : new Map<string, Kept[]>()
    const devices = asked.flatMap((jid) => known.get(userOf(jid)) ?? answers.get(jid) ?? []).map(deviceOf)
    const unnamed = unknown.filter((jid) => !answers.has(jid))
    return { devices, unnamed, without: unknown.filter((jid) => answers.get(jid)?.length === 0) }
  }

  async #ask(jids: readonly string[]): Promise<Map<string, Kept[]>> {
    const { ask, cache, socket } = this.#deps
    const users = jids.map((jid) => ({ tag: 'user', attrs: { jid } }))
    const answers = await askAboutUsers(ask, { context: 'message', about, users })
    await this.#learnLids(answers)
    const found = new Map<string, Kept[]>()
    const lists: Record<string, string[]> = {}
    for (const { jid, said } of answers) {
      const kept = keptOf(jid, said.get('devices'))
      if (!kept) continue
      found.set(jid, kept)
      if (kept.length === 0) continue
      cache.set(userOf(jid), kept)
      lists[userOf(jid)] = kept.map(({ device }) => String(device))
    }
    // Read by the library when it moves sessions from a phone number to a LID.
    if (Object.keys(lists).length > 0) await socket.authState.keys.set({ 'device-list': lists })
    return found
  }

  async #learnLids(answers: readonly UserAnswer[]): Promise<void> {
    const pairs = answers.flatMap(({ jid, said }) => {
      const lid = said.get('lid')?.attrs['val']
      return lid === undefined ? [] : [{ lid, pn: jid }]
    })
    await this.#deps.socket.signalRepository.lidMapping.storeLIDPNMappings(pairs)
  }
}

/** Undefined when the server named no list at all. */
function keptOf(jid: string, devices: BinaryNode | undefined): Kept[] | undefined {
  const [list] = devices ? nodesOf(devices, 'device-list') : []
  const { user, server } = jidDecode(jid) ?? {}
  if (!list || user === undefined || server === undefined) return undefined
  return nodesOf(list, 'device').flatMap(({ attrs }) => {
    const device = Number(attrs['id'])
    // The server rejects a message for a device that has no index in the owner's list.
    if (device !== 0 && !Number(attrs['key-index'])) return []
    const place = attrs['is_hosted'] === 'true' ? (server === 'lid' ? 'hosted.lid' : 'hosted') : server
    return [{ user, device, server: place, domainType: jidDecode(jidEncode(user, place, device))?.domainType }]
  })
}

function deviceOf({ user, device, server }: Kept): Device {
  const isHosted = server === 'hosted' || server === 'hosted.lid'
  return { user, device, jid: jidEncode(user, server, device), isHosted }
}

function userOf(jid: string): string {
  return jidDecode(jid)?.user ?? ''
}
