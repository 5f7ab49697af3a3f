import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { WASocket } from '../library/library.ts'
import { announceWhatIsHeard } from './heard-events.ts'

const stanza = { tag: 'heard-test', attrs: {} }

/** Emits the names and returns those that reached a listener of all names. */
function heardOf(ws: EventEmitter, names: readonly string[]): string[] {
  return names.filter((name) => ws.emit(name, stanza))
}

test('listeners hear the same names as before, also those who come later', () => {
  const ws = new EventEmitter()
  const heard: string[] = []
  ws.on('CB:heard-test', () => heard.push('tag'))
  announceWhatIsHeard(ws as unknown as WASocket['ws'])
  ws.once('CB:heard-test,type:picture', () => heard.push('type'))
  ws.on('TAG:an-id-that-is-longer-than-every-name-of-a-stanza', () => heard.push('answer'))
  ws.on('frame', () => heard.push('frame'))
  const names = [
    'frame',
    'TAG:an-id-that-is-longer-than-every-name-of-a-stanza',
    'CB:heard-test,from:5511888880001@s.whatsapp.net,enc',
    'CB:heard-test,type:picture',
    'CB:heard-test,type',
    'CB:heard-test',
  ]
  assert.deepEqual(heardOf(ws, names), [names[0], names[1], names[3], names[5]])
  assert.deepEqual(heard, ['frame', 'answer', 'type', 'tag'])
  assert.deepEqual(heardOf(ws, ['CB:heard-test,type:picture']), [], 'a listener that hears once')
})

test('a name that is too long is not looked up', () => {
  const ws = new EventEmitter()
  ws.on('CB:heard-test', () => undefined)
  announceWhatIsHeard(ws as unknown as WASocket['ws'])
  const asked: string[] = []
  const events = (ws as unknown as { _events: object })._events
  const watched = new Proxy(events, {
    get: (target, name, receiver) => {
      asked.push(String(name))
      return Reflect.get(target, name, receiver) as unknown
    },
  })
  Object.assign(ws, { _events: watched })
  const long = `CB:heard-test,id:${'3EB0'.repeat(9)}`
  assert.equal(ws.emit(long, stanza), false)
  assert.equal(ws.emit('CB:heard-test', stanza), true)
  assert.ok(!asked.includes(long) && asked.includes('CB:heard-test'))
})
