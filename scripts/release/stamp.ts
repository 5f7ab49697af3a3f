// Writes a new version into the texts of the files that name the version.

export type Release = { current: string; next: string; date: string }

const unreleased = '## [Unreleased]'

/** What is unreleased becomes the release. Throws when there is nothing. */
export function stampChangelog(text: string, { next, date }: Release): string {
  const start = text.indexOf(`\n${unreleased}\n`)
  if (start < 0) throw new Error(`there is no heading "${unreleased}"`)
  const after = start + unreleased.length + 2
  const end = text.indexOf('\n## ', after)
  const entries = text.slice(after, end < 0 ? undefined : end)
  if (!/^- /m.test(entries)) throw new Error('there is no entry under Unreleased, so there is nothing to release')
  return `${text.slice(0, after)}\n## [${next}] - ${date}\n${text.slice(after)}`
}

/** The version of the package itself, in package.json and twice in package-lock.json. */
export function stampPackage(text: string, { current, next }: Release): string {
  const own = `"name": "causeway",`
  return stampAll(text, new RegExp(`(${own}\\s*"version": ")${escape(current)}"`, 'g'), `$1${next}"`)
}

/** What an upgrade to the unreleased version needs is now what the release needs. Throws when the guide does not say it. */
export function stampUpgrading(text: string, { next }: Release): string {
  const entry = '\n- **Unreleased**'
  if (!text.includes(entry)) {
    throw new Error('it does not say what the release needs: add a line that begins with "- **Unreleased**"')
  }
  return text.replace(entry, `\n- **${next}**`)
}

/** The label of the image. */
export function stampLabel(text: string, { current, next }: Release): string {
  const label = new RegExp(`(org\\.opencontainers\\.image\\.version=")${escape(current)}"`, 'g')
  return stampAll(text, label, `$1${next}"`)
}

/** The tag with which files name the image. Text without it stays as it is. */
export function stampImage(text: string, { current, next }: Release): string {
  return text.replaceAll(new RegExp(`(\\bcauseway:)${escape(current)}(?![\\d.-])`, 'g'), `$1${next}`)
}

function stampAll(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error('it does not name the version of now')
  pattern.lastIndex = 0
  return text.replaceAll(pattern, replacement)
}

function escape(version: string): string {
  return version.replaceAll('.', '\\.')
}
