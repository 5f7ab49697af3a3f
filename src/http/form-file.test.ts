import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeError } from '../core/errors.ts'
import { readFormFile } from './form-file.ts'

const type = 'multipart/form-data; boundary=xyz'
const file = 'Content-Disposition: form-data; name="picture"; filename="a.jpg"\r\nContent-Type: image/jpeg'

/** A form with these parts: headers and content. */
function formOf(...parts: readonly (readonly [string, string])[]): Buffer {
  const text = parts.map(([headers, content]) => `--xyz\r\n${headers}\r\n\r\n${content}\r\n`).join('')
  return Buffer.from(`${text}--xyz--\r\n`, 'latin1')
}

function refused(body: unknown, sentence: RegExp, contentType = type): void {
  assert.throws(
    () => readFormFile(body, contentType, 'picture'),
    (error) => error instanceof BridgeError && error.code === 'SERVICE_BAD_REQUEST' && sentence.test(error.message),
  )
}

test('a file of a form is read byte by byte, also with line ends and hyphens in it', async () => {
  const bytes = Buffer.from([0, 13, 10, 45, 45, 120, 121, 13, 10, 13, 10, 255])
  const form = new FormData()
  form.set('note', 'hello')
  form.set('picture', new File([new Uint8Array(bytes)], 'Grüße "a".jpg'))
  const encoded = new Response(form)
  const body = Buffer.from(await encoded.arrayBuffer())
  assert.deepEqual(readFormFile(body, encoded.headers.get('content-type') ?? '', 'picture'), bytes)
})

test('forms are read as other programs write them', () => {
  const names = [
    'content-disposition: form-data; filename="a.jpg"; name="picture"',
    'CONTENT-DISPOSITION:form-data;name=picture;filename=a.jpg',
    'Content-Disposition: form-data; name="picture"; filename*=utf-8\'\'gr%C3%BC%C3%9Fe.jpg',
    'Content-Disposition: form-data; filename="; name=other"; name="picture"',
    `Content-Type: image/jpeg\r\n${file.split('\r\n')[0] ?? ''}`,
  ]
  for (const headers of names) {
    assert.equal(readFormFile(formOf([headers, 'abc']), type, 'picture').toString(), 'abc', headers)
  }
  const quoted = 'multipart/form-data; charset=utf-8; boundary="xyz"'
  assert.equal(readFormFile(formOf([file, 'abc']), quoted, 'picture').toString(), 'abc')
  const preamble = Buffer.concat([Buffer.from('for old programs\r\n'), formOf([file, 'abc']), Buffer.from('the end')])
  assert.equal(readFormFile(preamble, type, 'picture').toString(), 'abc')
  assert.equal(readFormFile(formOf([file, '']), type, 'picture').length, 0)
})

test('a form without the file is refused', () => {
  const missing = /^picture must be a file of the form$/
  refused(formOf(['Content-Disposition: form-data; name="other"; filename="a.jpg"', 'abc']), missing)
  refused(formOf(['Content-Disposition: form-data; name="picture"', 'abc']), missing)
  refused(formOf(['Content-Type: image/jpeg', 'abc']), missing)
  refused(Buffer.from('--xyz--\r\n'), missing)
})

test('a body that is no form is refused', () => {
  const notValid = /^the body is not a valid form$/
  const whole = formOf([file, 'abc'])
  refused(undefined, notValid)
  refused({}, notValid)
  refused(whole, notValid, 'multipart/form-data')
  refused(whole, notValid, 'multipart/form-data; boundary=')
  refused(whole, notValid, 'multipart/form-data; boundary=other')
  for (let length = 0; length < whole.length - 4; length++) refused(whole.subarray(0, length), notValid)
  refused(formOf([`X: ${'a'.repeat(5000)}`, 'abc']), notValid)
  refused(formOf(...Array.from({ length: 30 }, () => ['X: y', 'abc'] as const)), notValid)
})
