// Reads the shell commands that documents print.

import { readFileSync } from 'node:fs'

/** `block` counts the code blocks of the document. */
export type Command = { document: string; section: string; block: number; text: string }

/** The commands in the blocks marked `sh`, in order. A line that ends with a backslash goes on in the next one. */
export function commandsIn(document: string, text = readFileSync(document, 'utf8')): Command[] {
  const commands: Command[] = []
  let section = ''
  let block = 0
  let fence: string | undefined
  let partial = ''
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line.startsWith('```')) {
      block += fence === undefined ? 1 : 0
      fence = fence === undefined ? line.slice(3) : undefined
    } else if (fence === undefined) {
      section = /^#+ (.+)$/.exec(line)?.[1] ?? section
    } else if (fence === 'sh') {
      const whole = `${partial} ${line}`.trim()
      partial = whole.endsWith('\\') ? whole.slice(0, -1).trim() : ''
      const command = withoutComment(whole)
      if (partial === '' && command !== '') commands.push({ document, section, block, text: command })
    }
  }
  return commands
}

/** The commands that stand in a sentence or in a table. A command without arguments is only the name of a program. */
export function inlineCommandsIn(document: string, text = readFileSync(document, 'utf8')): Command[] {
  const found = text.matchAll(/`((?:npm run [\w:]+ -- |node |openssl )[^`<]+)`/g)
  const texts = new Set(Array.from(found, ([, command = '']) => command))
  return [...texts].map((command) => ({ document, section: 'in a sentence', block: 0, text: command }))
}

/** The names of all kinds of code blocks. */
export function fencesIn(document: string): string[] {
  const marks = [...readFileSync(document, 'utf8').matchAll(/^ *```(.*)$/gm)].map(([, name = '']) => name)
  return marks.filter((_name, index) => index % 2 === 0)
}

function withoutComment(line: string): string {
  let quote = ''
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '#' && ['', ' '].includes(line.charAt(index - 1))) return line.slice(0, index).trimEnd()
  }
  return line
}
