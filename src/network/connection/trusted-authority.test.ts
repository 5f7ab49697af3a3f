import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { getCACertificates } from 'node:tls'
import { loopbackCa } from '../../../test/harness/loopback-server.ts'
import { trustCertificatesOf } from './trusted-authority.ts'

async function withFile(text: string, work: (file: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  const file = join(directory, 'ca.pem')
  await writeFile(file, text)
  try {
    work(file)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('the certificates of a file are trusted beside the usual ones', async () => {
  const usual = getCACertificates('default').length
  await withFile(`A comment\r\n${loopbackCa}\n`, trustCertificatesOf)
  assert.equal(getCACertificates('default').length, usual + 1)
})

test('a damaged certificate is refused, and nothing changes', async () => {
  const usual = getCACertificates('default').length
  const damaged = loopbackCa.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA')
  await withFile(`${loopbackCa}\n${damaged}`, (file) => {
    assert.throws(() => {
      trustCertificatesOf(file)
    }, /^StartError: SERVICE_NETWORK_CA=\S+: a certificate in the file is damaged: get the file again$/)
  })
  assert.equal(getCACertificates('default').length, usual)
})
