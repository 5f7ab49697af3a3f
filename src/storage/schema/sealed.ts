// The types of columns that are encrypted on disk.

import type { ColumnType } from 'kysely'
import type { Secret } from '../engine/statement.ts'

/** Stored sealed; read as bytes when the read asks for it to be opened. */
export type Sealed = ColumnType<Uint8Array, Secret, Secret>
export type SealedOrNull = ColumnType<Uint8Array | null, Secret | null, Secret | null>
