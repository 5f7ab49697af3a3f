// The thread's end of a TextConverter: answers each text with the converted one.

import { parentPort } from 'node:worker_threads'
import type { Answer } from './text-converter.ts'

export function convertInThread(convert: (input: never) => string): void {
  parentPort?.on('message', (input: unknown) => {
    parentPort?.postMessage(answerTo(() => convert(input as never)))
  })
}

function answerTo(convert: () => string): Answer {
  try {
    return { text: convert() }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
