// Reads the name of a file from the header of its server, else from its URL.

export function fileNameOf(contentDisposition: string | undefined, url: URL): string | null {
  return named(contentDisposition ?? '') ?? plain(decoded(url.pathname.split('/').at(-1) ?? ''))
}

function named(header: string): string | null {
  const extended = /;\s*filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(header)?.[1]
  if (extended !== undefined) return plain(decoded(extended))
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? []
  return plain(quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** No directories, nothing invisible, not too long. */
function plain(name: string): string | null {
  const base = name.split(/[/\\]/).at(-1) ?? ''
  const clean = base.replace(/\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim()
  return clean === '' || clean === '.' || clean === '..' ? null : Array.from(clean).slice(-200).join('')
}
