import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Screen } from '../../cli/screen.ts'

function newTerminal({ isTTY = true, rows = 40, columns = 80 } = {}) {
  let written = ''
  const output = {
    isTTY,
    rows,
    columns,
    write: (text: string) => {
      written += text
      return true
    },
  }
  const taken = () => {
    const text = written
    written = ''
    return text
  }
  return { screen: new Screen(output), taken }
}

test('a new picture replaces the picture before it and the sentences below', () => {
  const { screen, taken } = newTerminal()
  screen.say('before')
  screen.show(['a', 'b'])
  screen.say('one\ntwo')
  taken()
  screen.show(['c', 'd'])
  assert.equal(taken(), '\x1b[4A\x1b[Jc\nd\n')
})

test('a picture that is kept is not replaced', () => {
  const { screen, taken } = newTerminal()
  screen.show(['a'])
  screen.keep()
  taken()
  screen.show(['b'])
  assert.equal(taken(), 'b\n')
})

test('a picture is printed anew where the output is a file, or the screen is lower than the picture', () => {
  for (const options of [{ isTTY: false }, { rows: 2 }]) {
    const { screen, taken } = newTerminal(options)
    screen.show(['a', 'b'])
    screen.show(['c', 'd'])
    assert.equal(taken(), 'a\nb\nc\nd\n')
  }
})

test('a sentence that stands there already is not repeated', () => {
  const { screen, taken } = newTerminal()
  screen.say('waiting')
  screen.say('waiting')
  assert.equal(taken(), 'waiting\n')
  screen.show(['a'])
  screen.say('waiting')
  assert.equal(taken(), 'a\nwaiting\n')
})

test('a picture fits if the whole of it stands in the window, above the line of the cursor', () => {
  const { screen } = newTerminal({ rows: 24, columns: 80 })
  assert.equal(screen.fits({ width: 80, height: 23 }), true)
  assert.equal(screen.fits({ width: 80, height: 24 }), false)
  assert.equal(screen.fits({ width: 81, height: 23 }), false)
  assert.equal(newTerminal({ isTTY: false, rows: 2 }).screen.fits({ width: 81, height: 24 }), true)
})

test('a sentence that is wider than the window counts as several lines', () => {
  const { screen, taken } = newTerminal({ columns: 10 })
  screen.show(['\x1b[38;5;16mten wide..\x1b[0m', 'b'])
  screen.say('this sentence takes four lines now')
  taken()
  screen.show(['c'])
  assert.equal(taken(), '\x1b[6A\x1b[Jc\n')
})
