// Writes a new version into the texts of the files that name the version.

export type Release = { current: string; next: string; date: string }

const unreleased = '## [Unreleased]'

/** What is unreleased becomes the release. Throws when there is nothing. */
export function stampChangelog(text: string, { next, date }: Release): string {
  const start = text.indexOf(`\n${unreleased}\n`)
  if (start < 0) throw new Error(`CHANGELOG.md has no heading "${unreleased}"`)
  const after = start + unreleased.length + 2
  const end = text.indexOf('\n## ', after)
  const entries = text.slice(after, end < 0 ? undefined : end)
  if (!/^- /m.test(entries)) throw new Error('CHANGELOG.md has no entry under Unreleased: there is nothing to release')
  return `${text.slice(0, after)}\n## [${next}] - ${date}\n${text.slice(after)}`
}

/** The version of the package itself, in package.json and twice in package-lock.json. */
export function stampPackage(text: string, { current, next }: Release): string {
  const own = `"name": "causeway",`
  return stampAll(text, new RegExp(`(${own}\\s*"version": ")${escape(current)}"`, 'g'), `$1${next}"`)
}

/** The label of the image, and the tag with which files name the image. Text without them stays as it is. */
export function stampImage(text: string, { current, next }: Release): string {
  const version = escape(current)
  return text
    .replaceAll(new RegExp(`(org\\.opencontainers\\.image\\.version=")${version}"`, 'g'), `$1${next}"`)
    .replaceAll(new RegExp(`(\\bcauseway:)${version}(?![\\d.-])`, 'g'), `$1${next}`)
}

function stampAll(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error('a file of the package does not name the version of now')
  pattern.lastIndex = 0
  return text.replaceAll(pattern, replacement)
}

function escape(version: string): string {
  return version.replaceAll('.', '\\.')
}
