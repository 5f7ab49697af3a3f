// What a process that is a cell knows of itself, and what it tells the node that started it.

import type { EventEmitter } from 'node:events'
import { StartError } from '../../lib/start-error.ts'

/** The first argument of a cell. The second one is the address where other nodes reach it. */
export const cellArgument = 'cell'

/** The part of the global `process` that is used here. */
type Process = Pick<NodeJS.Process, 'argv' | 'connected' | 'send'> & EventEmitter

export type ThisCell = {
  /** Where other nodes reach it. */
  address: string
  /** Tells the node that started it where the cell listens for it. */
  tellUrl: (url: string) => void
  /** The cell stops when the node that started it has ended, or closes the channel. */
  stopWithParent: () => void
}

/** Undefined when this process is no cell. */
export function readCell(process: Process): ThisCell | undefined {
  const [, , argument, address = ''] = process.argv
  if (argument !== cellArgument) return undefined
  const { send } = process
  if (send === undefined || address === '')
    throw new StartError('only a node can start a cell: start the service instead')
  const end = () => process.emit('parentEnded')
  return {
    address,
    tellUrl: (url) => {
      // The answer does not matter: a node that has ended hears nothing.
      send.call(process, { url }, () => undefined)
    },
    stopWithParent: () => {
      if (process.connected) process.once('disconnect', end)
      else end()
    },
  }
}

/** The URL in a message of a cell; undefined in any other message. */
export function readCellMessage(message: unknown): string | undefined {
  const { url } = (message ?? {}) as { url?: unknown }
  return typeof url === 'string' ? url : undefined
}
