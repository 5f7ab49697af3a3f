// The lease row that names the process which owns the accounts. All times are on the database's own clock.

import { sql } from 'kysely'
import type { ExpressionBuilder, RawBuilder } from 'kysely'
import type { Database } from '../database.ts'
import type { Schema } from '../schema.ts'

/** One lease for the whole service. */
export const leaseName = 'service'

/** `isReleased`: its owner gave the lease back. Otherwise the owner may still run, even if the lease has expired. */
export type LeaseHolder = { owner: string; epoch: number; expiresAt: number; expiresInMs: number; isReleased: boolean }

/** A lease as it was read. */
export type SeenLease = Pick<LeaseHolder, 'owner' | 'expiresAt'>

// Every clock is later than this.
const released = 0

/** The owner of a lease that no process needs any more, because nodes share the database. */
export const nodesOwner = 'nodes'

/**
 * No clock gets here. A process of an earlier build takes a lease that was not renewed for 5 s, but only if the end is exactly
 * the one that it read. It cannot read this one exactly: JavaScript has no such number.
 */
const never = sql<number>`9007199254740993`

export class LeaseStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database.vital
  }

  /**
   * Returns the new epoch, or undefined while the lease of another owner runs. The lease `abandoned` counts as expired, unless
   * it was renewed after it was read.
   */
  async acquire(owner: string, forMs: number, abandoned?: SeenLease): Promise<number | undefined> {
    return this.#take(owner, sql<number>`${this.#database.now} + ${forMs}`, abandoned)
  }

  /**
   * Takes the lease for good: no process of a build without nodes gets it any more, and one that had it is fenced. Returns the
   * last epoch, or undefined while the lease of another owner runs. Only for PostgreSQL.
   */
  async retire(abandoned?: SeenLease): Promise<number | undefined> {
    return this.#take(nodesOwner, never, abandoned)
  }

  /** False when another process has taken the lease since. An expired lease that no process took is prolonged. */
  async renew(owner: string, epoch: number, forMs: number): Promise<boolean> {
    return this.#setExpiry(owner, epoch, sql<number>`${this.#database.now} + ${forMs}`)
  }

  /** The next process need not wait for the lease to expire. */
  async release(owner: string, epoch: number): Promise<void> {
    await this.#setExpiry(owner, epoch, released)
  }

  async holder(): Promise<LeaseHolder | undefined> {
    const { query, now } = this.#database
    const [row] = await this.#database.read(
      query
        .selectFrom('lease')
        .select(['owner', 'epoch', 'expires_at', ({ eb }) => eb('expires_at', '-', now).as('expires_in_ms')])
        .where('name', '=', leaseName),
    )
    if (!row) return undefined
    const { owner, epoch, expires_at, expires_in_ms } = row
    return { owner, epoch, expiresAt: expires_at, expiresInMs: expires_in_ms, isReleased: expires_at === released }
  }

  async #take(owner: string, expires_at: RawBuilder<number>, abandoned: SeenLease | undefined) {
    const [row] = await this.#database.writeReturning(
      ...this.#lockFree(abandoned),
      this.#database.query
        .insertInto('lease')
        .values({ name: leaseName, owner, epoch: 1, expires_at })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet(({ eb }) => ({ owner, epoch: eb('lease.epoch', '+', 1), expires_at }))
            .where(this.#isFree(abandoned)),
        )
        .returning('epoch'),
    )
    return row?.epoch
  }

  #isFree(abandoned: SeenLease | undefined) {
    const { now } = this.#database
    return (lease: ExpressionBuilder<Schema, 'lease'>) => {
      const isExpired = lease('lease.expires_at', '<=', now)
      if (!abandoned) return isExpired
      const { owner, expiresAt } = abandoned
      const isAbandoned = [lease('lease.owner', '=', owner), lease('lease.expires_at', '=', expiresAt)]
      return lease.or([isExpired, lease.and(isAbandoned)])
    }
  }

  // On PostgreSQL the row update alone would not wait for a write of an earlier build, which locks the key of the row.
  #lockFree(abandoned: SeenLease | undefined) {
    const { query, engine } = this.#database
    if (engine === 'sqlite') return []
    const free = query.selectFrom('lease').select('epoch').where('name', '=', leaseName).where(this.#isFree(abandoned))
    return [free.forUpdate()]
  }

  async #setExpiry(owner: string, epoch: number, expiresAt: number | RawBuilder<number>): Promise<boolean> {
    const { query } = this.#database
    const [changes] = await this.#database.write(
      query
        .updateTable('lease')
        .set({ expires_at: expiresAt })
        .where('name', '=', leaseName)
        .where('owner', '=', owner)
        .where('epoch', '=', epoch),
    )
    return changes === 1
  }
}
