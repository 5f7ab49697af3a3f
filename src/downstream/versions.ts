// What a version of Chatwoot can do.

/** Chatwoot keeps the source id of a new message since 3.4. */
export function keepsSourceIds(version: string): boolean {
  return isAtLeast(version, 3, 4)
}

/** Chatwoot calls us when a person types since 4.2. */
export function announcesTyping(version: string): boolean {
  return isAtLeast(version, 4, 2)
}

/** Every API inbox has a secret that signs its callbacks since 4.13. */
export function signsCallbacks(version: string): boolean {
  return isAtLeast(version, 4, 13)
}

/** A version that cannot be read counts as older. */
function isAtLeast(version: string, wantedMajor: number, wantedMinor: number): boolean {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number)
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)
}
