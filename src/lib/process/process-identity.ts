// Names a process so that another process on the same machine can tell whether the named one is dead.

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

type Status = { state: string; startedAt: string }

// A zombie or a process that is being removed runs no code any more.
const endedStates = ['Z', 'X']

/** Undefined where the system does not say enough, for example outside of Linux. */
export function identifyProcess(pid: number = process.pid): string | undefined {
  const place = placeOfThisProcess()
  const startedAt = statusOf(pid)?.startedAt
  return place === undefined || startedAt === undefined ? undefined : [place, pid, startedAt].join('/')
}

/** True only if the process is certainly dead. A process of another machine or container may be alive. */
export function isCertainlyDead(identity: string): boolean {
  const parts = identity.split('/')
  const [pid, startedAt] = [Number(parts.at(-2)), parts.at(-1)]
  if (!Number.isSafeInteger(pid) || pid <= 0 || parts.slice(0, -2).join('/') !== placeOfThisProcess()) return false
  if (!hasProcess(pid)) return true
  const status = statusOf(pid)
  // Another start time belongs to a later process that got the same number.
  return status !== undefined && (status.startedAt !== startedAt || endedStates.includes(status.state))
}

/**
 * Two processes in the same place see each other by their pids. The kernel gives the number of a namespace to another one only
 * after every process of the first one has ended. The time namespace counts because start times are relative to it.
 */
function placeOfThisProcess(): string | undefined {
  try {
    // In a container /proc may be the one of the machine, which has other pids.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const namespaces = ['pid', 'time'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`))
    return [hostname(), boot, ...namespaces].join('/')
  } catch {
    return undefined
  }
}

/** Asks with a signal that does nothing: /proc may hide the processes of other users. */
function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** See proc_pid_stat(5). The name of the program is in parentheses and may contain spaces. */
function statusOf(pid: number): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const startedAt = rest[18]
    return startedAt === undefined ? undefined : { state, startedAt }
  } catch {
    return undefined
  }
}
