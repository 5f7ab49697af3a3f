// Reads the version from package.json, and commit and date from build-info.json when a build wrote one.

import { readFileSync } from 'node:fs'
import type { BuildInfo } from '../http/routes/operations.ts'

export function readBuildInfo(root: URL = new URL('../../', import.meta.url)): BuildInfo {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  const { commit = 'unknown', build_date: buildDate = 'unknown' } = readOptional(new URL('build-info.json', root))
  return { version, commit, buildDate }
}

function readOptional(file: URL): { commit?: string; build_date?: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { commit?: string; build_date?: string }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}
