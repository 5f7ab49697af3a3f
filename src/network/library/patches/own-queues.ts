// Takes the Signal library's queue away, which is one per contact for the whole process.
//
// Accounts that share a contact would wait for each other there, and a job would run in the context of whoever came
// first. Every account has a lane of its own, so nothing needs that queue.

import { sessionCipherMethods } from '../library.ts'

export function runJobsAtOnce(): void {
  sessionCipherMethods.queueJob = (job) => job()
}
