import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileNameOf } from './file-name.ts'

const url = new URL('https://desk.example/a/b/from%20address.pdf?x=1')

test('the header names the file, in its extended form first; else the address does', () => {
  assert.equal(fileNameOf(`inline; filename="plain.pdf"; filename*=UTF-8''ol%C3%A1.pdf`, url), 'olá.pdf')
  assert.equal(fileNameOf('attachment; filename="a \\"b\\".pdf"', url), 'a "b".pdf')
  assert.equal(fileNameOf('attachment; filename=bare.pdf', url), 'bare.pdf')
  assert.equal(fileNameOf('attachment', url), 'from address.pdf')
  assert.equal(fileNameOf(undefined, url), 'from address.pdf')
  assert.equal(fileNameOf(undefined, new URL('https://desk.example/')), null)
})

test('directories, invisible characters and endless names are taken away', () => {
  assert.equal(fileNameOf('attachment; filename="../../etc/passwd"', url), 'passwd')
  assert.equal(fileNameOf('attachment; filename="C:\\\\x\\\\y.exe"', url), 'y.exe')
  assert.equal(fileNameOf("attachment; filename*=utf-8''a%00%0D%0A%E2%80%AEgpj.exe", url), 'agpj.exe')
  assert.equal(fileNameOf(`attachment; filename="${'x'.repeat(500)}.pdf"`, url)?.length, 200)
  assert.equal(fileNameOf("attachment; filename*=utf-8''%E0%A4%A", url), '%E0%A4%A')
})

test('a name never leaves its directory and never fails', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (header) => {
      const name = fileNameOf(`attachment; filename="${header}"`, url)
      return name === null || (!/[/\\]/.test(name) && name !== '..')
    }),
  )
})
