import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
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

/** By their fingerprints: Node lists some authorities twice, and formats them anew. */
function trusted(): Set<string> {
  return new Set(getCACertificates('default').map((pem) => new X509Certificate(pem).fingerprint256))
}

test('the certificates of a file are trusted beside the usual ones', async () => {
  const usual = trusted()
  await withFile(`A comment\r\n${loopbackCa}\n`, trustCertificatesOf)
  assert.deepEqual(trusted(), usual.add(new X509Certificate(loopbackCa).fingerprint256))
})

test('a damaged certificate is refused, and nothing changes', async () => {
  const usual = trusted()
  const damaged = loopbackCa.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA')
  await withFile(`${loopbackCa}\n${damaged}`, (file) => {
    assert.throws(() => {
      trustCertificatesOf(file)
    }, /^StartError: SERVICE_NETWORK_CA=\S+: a certificate in the file is damaged: get the file again$/)
  })
  assert.deepEqual(trusted(), usual)
})

test('a file without a certificate is named', async () => {
  await withFile('0\u0082\u0001\u0000', (file) => {
    const cure = `convert another form with openssl x509 -inform der -in ${file} -out ca.pem`
    const message = `SERVICE_NETWORK_CA=${file}: the file holds no certificate in PEM form: ${cure}`
    assert.throws(
      () => {
        trustCertificatesOf(file)
      },
      { name: 'StartError', message },
    )
  })
})
