// The lease row that names the process which owns the accounts. All times are on the database's own clock.

import type { Database } from '../database.ts'
import { toStatement } from '../engine/statement.ts'
import type { Statement } from '../engine/statement.ts'

// One lease for the whole service.
const name = 'service'

export type LeaseHolder = { owner: string; expiresInMs: number }

export class LeaseStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database.vital
  }

  /** Returns the new epoch, or undefined while the lease of another owner runs. */
  async acquire(owner: string, forMs: number): Promise<number | undefined> {
    const { query, now } = this.#database
    const expires_at = query.selectNoFrom(({ eb }) => eb(now, '+', forMs).as('at'))
    const [row] = await this.#database.writeReturning(
      ...this.#lockExpired(),
      query
        .insertInto('lease')
        .values({ name, owner, epoch: 1, expires_at })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet(({ eb }) => ({ owner, epoch: eb('lease.epoch', '+', 1), expires_at }))
            .where('lease.expires_at', '<=', now),
        )
        .returning('epoch'),
    )
    return row?.epoch
  }

  /** False when another process has taken the lease since. An expired lease that no process took is prolonged. */
  async renew(owner: string, epoch: number, forMs: number): Promise<boolean> {
    return this.#setExpiry(owner, epoch, forMs)
  }

  /** The next process need not wait for the lease to expire. */
  async release(owner: string, epoch: number): Promise<void> {
    await this.#setExpiry(owner, epoch, 0)
  }

  async holder(): Promise<LeaseHolder | undefined> {
    const { query, now } = this.#database
    const [row] = await this.#database.read(
      query
        .selectFrom('lease')
        .select(['owner', ({ eb }) => eb('expires_at', '-', now).as('expires_in_ms')])
        .where('name', '=', name),
    )
    return row && { owner: row.owner, expiresInMs: row.expires_in_ms }
  }

  // On PostgreSQL the row update alone would not wait for a fenced write in flight, see createLeaseFence.
  #lockExpired() {
    const { query, now, engine } = this.#database
    if (engine === 'sqlite') return []
    const expired = query.selectFrom('lease').select('epoch').where('name', '=', name).where('expires_at', '<=', now)
    return [expired.forUpdate()]
  }

  async #setExpiry(owner: string, epoch: number, forMs: number): Promise<boolean> {
    const { query, now } = this.#database
    const [changes] = await this.#database.write(
      query
        .updateTable('lease')
        .set(({ eb }) => ({ expires_at: eb(now, '+', forMs) }))
        .where('name', '=', name)
        .where('owner', '=', owner)
        .where('epoch', '=', epoch),
    )
    return changes === 1
  }
}

/** First step of a write that only the current owner may do: a stale epoch undoes the whole write. */
export function createLeaseFence({ query, engine }: Database): (epoch: number) => Statement {
  const check = query.selectFrom('lease').select('epoch').where('name', '=', name).where('epoch', '=', 0)
  // On PostgreSQL the row stays locked until commit, so that no process takes over between check and write. A key share
  // lock blocks taking the lease (FOR UPDATE) but not renewing it: slow writes must not cost their own lease.
  const { sql } = toStatement(engine === 'postgres' ? check.forKeyShare() : check)
  return (epoch) => ({ sql, parameters: [name, epoch], expect: 1 })
}
