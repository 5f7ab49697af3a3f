// Writes JSON as Rails does: it escapes the characters that are dangerous in HTML and JavaScript.

const escapes: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

export function railsJson(body: object): string {
  return JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character)
}
