// The thread's end of a TextConverter: answers each question with the converted text.

import { parentPort } from 'node:worker_threads'
import type { Answer, Question } from './text-converter.ts'

export function convertInThread(convert: (input: never) => string): void {
  parentPort?.on('message', ({ id, input }: Question) => {
    parentPort?.postMessage(answerTo(id, () => convert(input as never)))
  })
}

function answerTo(id: number, convert: () => string): Answer {
  try {
    return { id, text: convert() }
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) }
  }
}
