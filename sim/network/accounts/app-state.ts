// The app state of one account: collections of encrypted changes that the phone and its companions extend.
import { EventLog } from '../../event-log.ts'
import { proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { IqTable } from '../server/iq-router.ts'
import { bytesOf, child, children, stanza, type Stanza } from '../wire/stanza.ts'
import { AppStateCipher, SumHash, type AppStateKey, type Mutation } from './app-state-cipher.ts'

export type Collection = 'critical_block' | 'critical_unblock_low' | 'regular_high' | 'regular_low' | 'regular'
export type CompanionChange = { collection: string; index: string[]; action: proto.ISyncActionValue; removed: boolean }
type StateOwner = { appState: AppState }
type Kept = { hash: SumHash; patches: Uint8Array[] }

export class AppState {
  readonly key: AppStateKey
  /** Changes made by companions, for example a muted chat, a saved contact or a new name. */
  readonly changes = new EventLog<CompanionChange>(
    'app state changes by companions',
    (one) => one.index.join(' '),
    1_000,
  )
  /** The newest value of each entry, by its index. */
  readonly entries = new Map<string, { index: string[]; value: proto.ISyncActionValue }>()
  /** Changes of companions that are refused, as if another device had been faster. */
  conflicts = 0
  readonly #cipher: AppStateCipher
  readonly #collections = new Map<string, Kept>()

  constructor(random: SeededRandom) {
    this.key = { id: random.bytes(6), data: random.bytes(32) }
    this.#cipher = new AppStateCipher(this.key, random)
  }

  version(collection: string): number {
    return this.#kept(collection).patches.length
  }

  /** Adds a change made on the phone. */
  change(collection: Collection, mutation: Mutation): void {
    const kept = this.#kept(collection)
    const sealed = this.#cipher.seal(mutation)
    kept.hash.apply(sealed)
    this.#note(mutation.index, mutation.value, mutation.remove ?? false)
    kept.patches.push(this.#cipher.patch(collection, kept.patches.length + 1, kept.hash.sum, sealed))
  }

  /** Answers a companion: stores the changes it offers and returns the changes it does not have. */
  sync(request: Stanza | undefined): Stanza {
    const answers = children(request, 'collection').map((asked) => {
      const name = asked.attrs.name ?? ''
      const version = Number(asked.attrs.version ?? '0')
      const offered = bytesOf(child(asked, 'patch') ?? child(child(asked, 'patches'), 'patch'))
      if (offered) return this.#accept(name, version, offered)
      const patches = this.#kept(name)
        .patches.slice(version)
        .map((patch) => stanza('patch', {}, patch))
      const attributes = { name, version: String(version), has_more_patches: 'false' }
      return stanza('collection', attributes, [stanza('patches', {}, patches)])
    })
    return stanza('sync', {}, answers)
  }

  #accept(name: string, version: number, offered: Buffer): Stanza {
    const kept = this.#kept(name)
    if (this.conflicts > 0 || version !== kept.patches.length) {
      this.conflicts = Math.max(0, this.conflicts - 1)
      return stanza('collection', { name, type: 'error' }, [stanza('error', { code: '409', text: 'conflict' })])
    }
    const patch = proto.SyncdPatch.decode(offered)
    for (const mutation of patch.mutations) {
      const { index, action, sealed } = this.#cipher.open(mutation)
      kept.hash.apply(sealed)
      const removed = mutation.operation === proto.SyncdMutation.SyncdOperation.REMOVE
      this.#note(index, action, removed)
      this.changes.add({ collection: name, index, action, removed })
    }
    patch.version = { version: version + 1 }
    kept.patches.push(proto.SyncdPatch.encode(patch).finish())
    return stanza('collection', { name, version: String(version + 1) })
  }

  #note(index: string[], value: proto.ISyncActionValue, removed: boolean): void {
    const name = JSON.stringify(index)
    if (removed) this.entries.delete(name)
    else this.entries.set(name, { index, value })
  }

  #kept(collection: string): Kept {
    const kept = this.#collections.get(collection) ?? { hash: new SumHash(), patches: [] }
    this.#collections.set(collection, kept)
    return kept
  }
}

export function appStateAnswers(phoneOf: (phone: string) => StateOwner | undefined): IqTable {
  return {
    'w:sync:app:state set sync': ({ device, content }) => {
      const phone = phoneOf(device.user.phone)
      if (!phone) throw new Error(`${device.user.phone} has no phone`)
      return [phone.appState.sync(content)]
    },
  }
}
