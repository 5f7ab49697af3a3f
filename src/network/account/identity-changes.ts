// Remembers who got a new identity, because a new phone has none of the old keys.
//
// Every new identity gets a mark of its own. A device has the key of a group only if it got the key under the present mark.

import { randomBytes } from 'node:crypto'
import type { Person } from '../../core/address.ts'
import type { AccountKeys } from './account-keys.ts'

/** The marks of users. A user without a new identity has none. */
export type Marks = Readonly<Record<string, string>>

const kind = 'identity-mark'
/** The number of LIDs in the names of Signal sessions. */
const lidDomain = '1'

export class IdentityChanges {
  readonly #keys: AccountKeys
  #revision = 0

  constructor(keys: AccountKeys) {
    this.#keys = keys
  }

  /** Grows with every change. */
  get revision(): number {
    return this.#revision
  }

  /** Each user may have several names. The result has the marks by the first name of each user. */
  async marksOf(users: readonly (readonly string[])[]): Promise<Marks> {
    const found = (await this.#keys.get(kind, users.flat())) as Record<string, string>
    const marks = users.map((names) => [names[0] ?? '', names.flatMap((name) => found[name] ?? []).join(' ')] as const)
    return Object.fromEntries(marks.filter(([, mark]) => mark !== ''))
  }

  /** Inside a step. `person` need not have both addresses. Returns all known names of the person. */
  async noteInStep(person: Person): Promise<string[]> {
    const users = await this.#namesOf(person)
    const mark = randomBytes(6).toString('base64url')
    await this.#keys.setInStep({ [kind]: Object.fromEntries(users.map((user) => [user, mark])) })
    const onSaved = () => {
      this.#revision += 1
    }
    this.#keys.addToStep({ statements: [], onSaved })
    return users
  }

  /** Inside a step: deletes the sessions with these devices of a person. The next message opens new ones. */
  async dropSessionsInStep(person: Person, isDropped: (device: number) => boolean): Promise<void> {
    const users = await this.#namesOf(person)
    const lists = (await this.#keys.getInStep('device-list', users)) as Record<string, string[]>
    const devices = new Set(['0', ...Object.values(lists).flat()])
    const dropped = [...devices].filter((device) => isDropped(Number(device)))
    const names = users.flatMap((user) =>
      dropped.flatMap((device) => [`${user}.${device}`, `${user}_${lidDomain}.${device}`]),
    )
    if (names.length > 0) await this.#keys.setInStep({ session: Object.fromEntries(names.map((name) => [name, null])) })
  }

  /** The library stores each pair of phone and LID under both. */
  async #namesOf({ phone, lid }: Person): Promise<string[]> {
    const keys = [...(phone === null ? [] : [phone]), ...(lid === null ? [] : [`${lid}_reverse`])]
    const others = Object.values(await this.#keys.getInStep('lid-mapping', keys)) as string[]
    return [...new Set([phone, lid, ...others].filter((name) => name !== null))]
  }
}

/** The person that a name of a Signal session belongs to: the number or the LID, and the device. */
export function personOfSession(name: string): Person {
  const [user = ''] = name.split('.')
  const [id = '', domain] = user.split('_')
  return domain === lidDomain ? { phone: null, lid: id } : { phone: id, lid: null }
}

/** The sessions whose other side has another identity now. The library drops such a session together with the old key. */
export function changedIdentities(changes: Record<string, object | undefined>): string[] {
  const sessions = (changes['session'] ?? {}) as Record<string, unknown>
  return Object.keys(changes['identity-key'] ?? {}).filter((name) => sessions[name] === null)
}
