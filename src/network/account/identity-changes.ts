// Remembers who got a new identity, because a new phone has none of the old keys.
//
// Every new identity gets a mark of its own. A device has the key of a group only if it got the key under the present mark.

import { randomBytes } from 'node:crypto'
import { lidJid, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { AccountKeys } from './account-keys.ts'

/** The marks of users. A user without a new identity has none. */
export type Marks = Readonly<Record<string, string>>
/** The name of a user and the mark, the oldest first. */
type Stored = [string, string][]

const kind = 'identity-mark'
/** All marks are one record, because almost all users have none. */
const all = 'all'
/** The oldest marks are dropped. Without its mark, a phone that never got the key has to ask for it. */
const marksKept = 2_000
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
    const { [all]: stored = [] } = (await this.#keys.get(kind, [all])) as { [all]?: Stored }
    if (stored.length === 0) return {}
    const found = new Map(stored)
    const marks = users.map(
      (names) => [names[0] ?? '', names.flatMap((name) => found.get(name) ?? []).join(' ')] as const,
    )
    return Object.fromEntries(marks.filter(([, mark]) => mark !== ''))
  }

  /** Inside a step. Returns all known names of the person. */
  async noteInStep(person: Person): Promise<string[]> {
    const names = namesOf(await this.#complete(person))
    const mark = randomBytes(6).toString('base64url')
    const { [all]: stored = [] } = (await this.#keys.getInStep(kind, [all])) as { [all]?: Stored }
    const others = stored.filter(([name]) => !names.includes(name))
    const marks = [...others, ...names.map((name) => [name, mark])].slice(-marksKept)
    await this.#keys.setInStep({ [kind]: { [all]: marks } })
    const onSaved = () => {
      this.#revision += 1
    }
    this.#keys.addToStep({ statements: [], onSaved })
    return names
  }

  /** Inside a step: deletes the sessions with these devices of a person. The next message opens new ones. */
  async dropSessionsInStep(person: Person, isDropped: (device: number) => boolean): Promise<void> {
    const whole = await this.#complete(person)
    const { phone, lid } = whole
    const lists = (await this.#keys.getInStep('device-list', namesOf(whole))) as Record<string, string[]>
    const devices = [...new Set(['0', ...Object.values(lists).flat()])].filter((device) => isDropped(Number(device)))
    const owners = [...(phone === null ? [] : [phone]), ...(lid === null ? [] : [`${lid}_${lidDomain}`])]
    const sessions: Record<string, null> = {}
    for (const owner of owners) for (const device of devices) sessions[`${owner}.${device}`] = null
    await this.#keys.setInStep({ session: sessions })
  }

  /** Inside a step: the next message to the person gives the person our privacy token again. */
  async forgetTokenInStep(person: Person): Promise<void> {
    const { phone, lid } = await this.#complete(person)
    const owners = [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
    const tokens = (await this.#keys.getInStep('tctoken', owners)) as Record<string, { senderTimestamp?: unknown }>
    const changed = Object.entries(tokens).map(([owner, token]) => [owner, { ...token, senderTimestamp: undefined }])
    if (changed.length > 0) await this.#keys.setInStep({ tctoken: Object.fromEntries(changed) as typeof tokens })
  }

  /** The library stores each pair of phone and LID under both. */
  async #complete({ phone, lid }: Person): Promise<Person> {
    const key = phone ?? `${lid ?? ''}_reverse`
    if (phone !== null && lid !== null) return { phone, lid }
    const other = (await this.#keys.getInStep('lid-mapping', [key]))[key] as string | undefined
    return { phone: phone ?? other ?? null, lid: lid ?? other ?? null }
  }
}

function namesOf({ phone, lid }: Person): string[] {
  return [phone, lid].filter((name) => name !== null)
}

/** The person that the name of a Signal session belongs to. */
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
