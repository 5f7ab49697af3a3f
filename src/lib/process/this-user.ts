// Names the user that this process runs as.

import { userInfo } from 'node:os'

export function thisUser(): string {
  try {
    return `user ${userInfo().username}`
  } catch {
    // A container may run with a number that has no name.
    return `user ${process.getuid?.() ?? 'of this process'}`
  }
}
