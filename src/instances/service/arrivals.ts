// How instances that are created or deleted by a request become live, and stop being live.

import type { InstanceName } from '../../core/ids.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'
import type { LinkedAccount } from '../linked-account.ts'

export type Arrivals = {
  /** Between `begin` and its disposal a request opens the instance itself, as soon as it is live. */
  begin(name: InstanceName): Disposable
  /** The record was stored before: learns whether it is an instance of this node. */
  seek(name: InstanceName): Promise<void>
  /** The record is stored: makes the instance live. */
  arrive(row: InstanceRow): Promise<LinkedAccount>
  /** The record is deleted, and the account is closed. */
  departed(name: InstanceName): void
  /** It is not known whether the instance is still here: the database tells. */
  look(): void
}
