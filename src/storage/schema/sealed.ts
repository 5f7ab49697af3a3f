// The types of columns that are encrypted on disk, and the keys that encrypted them.

import type { ColumnType } from 'kysely'
import type { Secret } from '../engine/statement.ts'

/** Stored sealed; read as bytes when the read asks for it to be opened. */
export type Sealed = ColumnType<Uint8Array, Secret, Secret>
export type SealedOrNull = ColumnType<Uint8Array | null, Secret | null, Secret | null>

/** The keys that may have sealed stored values. `plain` stands for values that were stored without a key. */
export type SealingKeyTable = { id: string }
