// Finds the devices that a message must be sealed for: from memory, or from the server.

import type { Jid } from '../../core/ids.ts'
import type { DeviceCache } from '../account/device-cache.ts'
import { jidDecode, jidEncode, jidNormalizedUser } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import { askAboutUsers } from '../queries/user-sync.ts'
import type { Ask, UserAnswer } from '../queries/user-sync.ts'

export type Device = { user: string; device: number; jid: Jid; isHosted: boolean }
/** The library's format, because the library uses the same cache. */
type Kept = { user: string; device: number; server: JidServer; domainType: number | undefined }
type JidServer = NonNullable<ReturnType<typeof jidDecode>>['server']
/** `unnamed`: the server did not answer about these users. `without`: these users have no devices. */
export type Found = { devices: Device[]; unnamed: Jid[]; without: Jid[] }

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

  /** Grows with every change of the remembered devices. */
  get revision(): number {
    return this.#deps.cache.revision
  }

  async find(jids: readonly Jid[]): Promise<Found> {
    const { cache } = this.#deps
    const asked = jids.map((jid) => jidNormalizedUser(jid))
    const known = await cache.getAll<Kept[]>(asked.map(userOf))
    const unknown = asked.filter((jid) => !known.has(userOf(jid)))
    const answers = unknown.length > 0 ? await this.#ask(unknown) : new Map<Jid, Kept[]>()
    const devices = asked.flatMap((jid) => known.get(userOf(jid)) ?? answers.get(jid) ?? []).map(deviceOf)
    const unnamed = unknown.filter((jid) => !answers.has(jid))
    return { devices, unnamed, without: unknown.filter((jid) => answers.get(jid)?.length === 0) }
  }

  /** Asks the server, also about users whose devices are remembered. */
  async refresh(jids: readonly Jid[]): Promise<void> {
    const answers = await this.#ask(jids.map((jid) => jidNormalizedUser(jid)))
    const without = [...answers].flatMap(([jid, kept]) => (kept.length === 0 ? [userOf(jid)] : []))
    if (without.length > 0) this.#deps.cache.delAll(without)
  }

  async #ask(jids: readonly Jid[]): Promise<Map<Jid, Kept[]>> {
    const { ask, cache, socket } = this.#deps
    const users = jids.map((jid) => ({ tag: 'user', attrs: { jid } }))
    const answers = await askAboutUsers(ask, { context: 'message', about, users })
    await this.#learnLids(answers)
    const found = new Map<Jid, Kept[]>()
    for (const { jid, about: facts } of answers) {
      const kept = keptOf(jid, facts.get('devices'))
      if (kept) found.set(jid, kept)
    }
    const lists = new Map([...found].flatMap(([jid, kept]) => (kept.length > 0 ? [[userOf(jid), kept]] : [])))
    if (lists.size === 0) return found
    cache.setAll(lists)
    // The library reads it when it moves sessions from a phone number to a LID.
    const ids = [...lists].map(([user, kept]) => [user, kept.map(({ device }) => String(device))] as const)
    await socket.authState.keys.set({ 'device-list': Object.fromEntries(ids) })
    return found
  }

  async #learnLids(answers: readonly UserAnswer[]): Promise<void> {
    const pairs = answers.flatMap(({ jid, about: facts }) => {
      const lid = facts.get('lid')?.attrs['val']
      return lid === undefined ? [] : [{ lid, pn: jid }]
    })
    await this.#deps.socket.signalRepository.lidMapping.storeLIDPNMappings(pairs)
  }
}

/** Undefined when the server sent no list. */
function keptOf(jid: Jid, devices: BinaryNode | undefined): Kept[] | undefined {
  const list = devices && childOf(devices, 'device-list')
  const { user, server } = jidDecode(jid) ?? {}
  if (!list || user === undefined || server === undefined) return undefined
  return childrenOf(list, 'device').flatMap(({ attrs }) => {
    const device = Number(attrs['id'])
    // The server refuses a message to a device without an index in its owner's list.
    if (device !== 0 && !Number(attrs['key-index'])) return []
    const domain = attrs['is_hosted'] === 'true' ? (server === 'lid' ? 'hosted.lid' : 'hosted') : server
    return [{ user, device, server: domain, domainType: jidDecode(jidEncode(user, domain, device))?.domainType }]
  })
}

function deviceOf({ user, device, server }: Kept): Device {
  const isHosted = server === 'hosted' || server === 'hosted.lid'
  return { user, device, jid: jidEncode(user, server, device), isHosted }
}

/** The part of a jid before the @ and the device. */
export function userOf(jid: Jid): string {
  return jidDecode(jid)?.user ?? ''
}
