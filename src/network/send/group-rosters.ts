// Remembers the members of groups and their devices, for a few minutes or until the network reports a change.

import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DeviceDirectory, Found } from './device-directory.ts'
import type { BinaryNode, GroupMetadata, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; directory: DeviceDirectory; clock: Clock }
type Roster = Found & { metadata: GroupMetadata }
type Known = { metadata: Promise<GroupMetadata>; found?: { revision: number; found: Found } }

const trustedMs = 5 * 60 * 1000
const groupsKept = 200

export class GroupRosters {
  readonly #deps: Deps
  readonly #known: BoundedMap<Known>
  readonly #metadata: BoundedMap<GroupMetadata>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new BoundedMap({ clock: deps.clock, max: groupsKept, ttlMs: trustedMs })
    this.#metadata = new BoundedMap({ clock: deps.clock, max: groupsKept, ttlMs: trustedMs })
    deps.socket.ws.on('CB:notification', ({ attrs }: BinaryNode) => {
      if (attrs['type'] === 'w:gp2') this.forget(attrs['from'] ?? '')
    })
  }

  /** For the library, which would ask the server again. */
  remembered(group: Jid): GroupMetadata | undefined {
    return this.#metadata.get(group)
  }

  forget(group: Jid): void {
    this.#known.delete(group)
    this.#metadata.delete(group)
  }

  /** What the server tells about the group. */
  metadataOf(group: Jid): Promise<GroupMetadata> {
    return this.#knownOf(group).metadata
  }

  async of(group: Jid): Promise<Roster> {
    const known = this.#knownOf(group)
    const metadata = await known.metadata
    const { directory } = this.#deps
    // The devices of the whole group are read again only if some devices have changed.
    const { revision } = directory
    if (known.found?.revision === revision) return { metadata, ...known.found.found }
    const found = await directory.find(metadata.participants.map(({ id }) => id))
    if (found.unnamed.length === 0) known.found = { revision, found }
    return { metadata, ...found }
  }

  #knownOf(group: Jid): Known {
    return this.#known.get(group) ?? this.#ask(group)
  }

  /** Asks once, even if many messages wait for the answer. */
  #ask(group: Jid): Known {
    const known: Known = { metadata: this.#deps.socket.groupMetadata(group).catch(explain) }
    this.#known.set(group, known)
    known.metadata.then(
      (metadata) => {
        if (this.#known.get(group) === known) this.#metadata.set(group, metadata)
      },
      () => {
        if (this.#known.get(group) === known) this.#known.delete(group)
      },
    )
    return known
  }
}

const notAllowed = new Set([401, 403, 404, 410])

/** The library puts the network's code into the error's data. */
function explain(cause: unknown): never {
  const code = cause instanceof Error && 'data' in cause ? Number(cause.data) : NaN
  if (!notAllowed.has(code)) throw cause
  throw new SendError('refused', writeReason('notInGroup', { code }), { code, cause })
}
