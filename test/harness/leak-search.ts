// Searches a text for secrets, also where they are written in base64, in hexadecimal digits or as part of a URL.

/** The spellings of a secret that a longer text may have. Base64 depends on what stands before the secret. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    // The first and the last characters also depend on the neighbours of the secret.
    const inner = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1)
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const json = JSON.stringify(secret).slice(1, -1)
  return [...new Set([secret, json, encodeURIComponent(secret), bytes.toString('hex'), ...base64])]
}

/** The names of the secrets that the text has. */
export function leaksIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellingsOf(secret).some((spelling) => text.includes(spelling)) ? [name] : [],
  )
}
