import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawQr } from '../../cli/draw-qr.ts'
import { readDrawnQr, withoutCodes } from './harness/read-drawn-qr.ts'

/** As long as the codes of WhatsApp. */
const code = `2@${'aZ0+/'.repeat(30)},${'bY1='.repeat(11)},${'cX2='.repeat(11)}`

test('a drawn code is read back, black on white', () => {
  const lines = drawQr(code, { colours: true })
  assert.ok(lines.every((line) => line.startsWith('\x1b[38;5;16;48;5;231m') && line.endsWith('\x1b[0m')))
  assert.equal(readDrawnQr(lines.map(withoutCodes), true), code)
})

test('without colours the light modules are drawn, for a dark terminal', () => {
  const lines = drawQr(code, { colours: false })
  assert.ok(lines.every((line) => !line.includes('\x1b')))
  assert.equal(readDrawnQr(lines, false), code)
})

test('a code fits into a terminal of 80 columns', () => {
  const lines = drawQr(code, { colours: false })
  assert.ok(
    lines.every((line) => line.length <= 80),
    String(lines[0]?.length),
  )
  assert.equal(lines.length, Math.ceil((lines[0]?.length ?? 0) / 2))
})
