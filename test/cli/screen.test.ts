import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Screen } from '../../cli/screen.ts'

function newTerminal({ isTTY = true, rows = 40 } = {}) {
  let written = ''
  const output = {
    isTTY,
    rows,
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
