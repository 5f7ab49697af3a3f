// Draws a QR code with half blocks: one character is two modules, one above the other.

import { create } from 'qrcode'

/** A scanner needs a light margin. Two modules are enough on a screen. */
const margin = 2
// Black on white by the numbers of the colours: the names of colours look different on dark and light terminals.
const blackOnWhite = '\x1b[38;5;16;48;5;231m'
const plain = '\x1b[0m'

/** `[upper][lower]`, true is dark. */
const withColours = { dark: { dark: '█', light: '▀' }, light: { dark: '▄', light: ' ' } } as const
/** Without colours the terminal is taken for a dark one: its characters are light. */
const withoutColours = { dark: { dark: ' ', light: '▄' }, light: { dark: '▀', light: '█' } } as const

/** The lines of the picture. */
export function drawQr(text: string, { colours }: { colours: boolean }): string[] {
  const { size, get } = modulesOf(text)
  const blocks = colours ? withColours : withoutColours
  const lines: string[] = []
  for (let y = -margin; y < size + margin; y += 2) {
    let line = ''
    for (let x = -margin; x < size + margin; x++) line += blocks[get(x, y)][get(x, y + 1)]
    lines.push(colours ? blackOnWhite + line + plain : line)
  }
  return lines
}

function modulesOf(text: string) {
  const { modules } = create(text, { errorCorrectionLevel: 'L' })
  const { size } = modules
  const get = (x: number, y: number): 'dark' | 'light' => {
    const isInside = x >= 0 && y >= 0 && x < size && y < size
    return isInside && modules.get(y, x) === 1 ? 'dark' : 'light'
  }
  return { size, get }
}
