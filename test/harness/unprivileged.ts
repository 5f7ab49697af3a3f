// Starts programs without the rights of root, for tests of missing rights.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const isRoot = process.getuid?.() === 0
const nobody = 65_534
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] as const

/** A command that starts the rest of its arguments. Undefined if this machine cannot do that. */
export const unprivileged: readonly string[] | undefined = isRoot ? findCommand() : ordinaryUser()

/** The `skip` option of a test that needs it. */
export const withoutUnprivileged = unprivileged === undefined ? 'there is no user without rights' : false

function ordinaryUser(): readonly string[] | undefined {
  return process.platform === 'win32' ? undefined : []
}

/** The other user must be able to read the sources. */
function findCommand(): readonly string[] | undefined {
  const [command, ...args] = asNobody
  const asked = spawnSync(command, [...args, 'test', '-r', fileURLToPath(import.meta.url)])
  return asked.status === 0 ? asNobody : undefined
}
