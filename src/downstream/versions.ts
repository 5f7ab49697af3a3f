// What a version of Chatwoot can do.

/** Chatwoot keeps the source id of a new message since 3.4. A version that cannot be read counts as older. */
export function keepsSourceIds(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 3 || (major === 3 && minor >= 4)
}
