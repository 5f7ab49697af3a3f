// Says which files a build sees, by the rules of .dockerignore: the last line that matches a path or a folder above it counts.

import { readFileSync } from 'node:fs'

export function entersBuild(path: string): boolean {
  const lines = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const folders = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
  return lines.reduce((enters, line) => {
    const isException = line.startsWith('!')
    const pattern = isException ? line.slice(1) : line
    return folders.some((each) => toExpression(pattern).test(each)) ? isException : enters
  }, true)
}

/** Unlike in a shell, a star also stands for a dot at the beginning of a name. */
function toExpression(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'))}$`)
}
