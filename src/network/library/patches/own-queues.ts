// Corrects the job queues of libsignal: one per contact, shared by all accounts of the process. No upstream issue is known.
//
// Accounts with a common contact wait for each other there. A job also runs in the asynchronous context of the account that
// started the queue, and can write into a transaction that is committed already. Every account has its own lane here, so
// the patch runs each job at once.

import { sessionCipherMethods } from '../library.ts'

export function runJobsAtOnce(): void {
  sessionCipherMethods.queueJob = (job) => job()
}
