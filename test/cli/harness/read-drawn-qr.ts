// Reads a QR code that was drawn with half blocks, as a camera in front of the terminal does.

import jsqr from 'jsqr'

/** The module is CommonJS, so its default export is one level deeper. */
const { default: decode } = jsqr

const pixels = 4
/** Which halves of a character have the colour of the text: the upper one, the lower one. */
const halves: Record<string, readonly [boolean, boolean]> = {
  '█': [true, true],
  '▀': [true, false],
  '▄': [false, true],
  ' ': [false, false],
}

/** `isTextDark`: the text is black on white. Otherwise it is light on a dark terminal. */
export function readDrawnQr(lines: readonly string[], isTextDark: boolean): string | null {
  const rows = lines.flatMap((line) => {
    const blocks = Array.from(line, (each) => halves[each] ?? [false, false])
    return [blocks.map(([upper]) => upper === isTextDark), blocks.map(([, lower]) => lower === isTextDark)]
  })
  const width = (rows[0]?.length ?? 0) * pixels
  const data = new Uint8ClampedArray(width * rows.length * pixels * 4)
  for (let at = 0; at < data.length; at += 4) {
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)]
    const isDark = rows[Math.floor(y / pixels)]?.[Math.floor(x / pixels)] === true
    data.set([...Array<number>(3).fill(isDark ? 0 : 255), 255], at)
  }
  return decode(data, width, rows.length * pixels)?.data ?? null
}

/** The last picture among the printed lines, without the codes of its colours. */
export function lastPicture(output: string): string[] {
  const pictures: string[][] = []
  let isPicture = false
  for (const line of output.split('\n')) {
    const isLine = line.includes(coloured)
    if (isLine && !isPicture) pictures.push([])
    if (isLine) pictures.at(-1)?.push(withoutCodes(line))
    isPicture = isLine
  }
  return pictures.at(-1) ?? []
}

const coloured = '\x1b[38;5;16;48;5;231m'

export function withoutCodes(line: string): string {
  return line.replaceAll(coloured, '').replaceAll('\x1b[0m', '')
}
