// The callbacks of the outbound benchmarks, from a process of their own: the work of agents is no work of the simulators.

import { serveParent } from './child.ts'
import { writeAll } from './outbound-load.ts'
import type { Writing } from './outbound-load.ts'

const desk = { write: (writing: Writing) => writeAll(writing) }

export type CallbackDesk = typeof desk

serveParent(desk)
