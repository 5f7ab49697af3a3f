// Reads the version from package.json. Commit and date come from build-info.json when a build wrote one; in a git checkout
// the commit comes from git.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BuildInfo } from '../http/routes/operations.ts'
import { readGitCommit } from './git-commit.ts'

/** Dependencies are pinned exactly. */
type Package = { version: string; dependencies?: Record<string, string> }

export function readBuildInfo(root: URL = new URL('../../', import.meta.url)): BuildInfo {
  const { version, dependencies = {} } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Package
  const { commit, build_date: buildDate = 'unknown' } = readOptional(new URL('build-info.json', root))
  return {
    ...{ version, buildDate },
    commit: commit ?? readGitCommit(fileURLToPath(root)) ?? 'unknown',
    library: `baileys ${dependencies['baileys'] ?? 'unknown'}`,
  }
}

function readOptional(file: URL): { commit?: string; build_date?: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { commit?: string; build_date?: string }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}
