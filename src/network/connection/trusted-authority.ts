// Makes this process trust the certificates of a file, beside those that it trusts anyway.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { StartError } from '../../lib/start-error.ts'

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

export function trustCertificatesOf(file: string): void {
  setDefaultCACertificates([...getCACertificates('default'), ...readCertificates(file)])
}

function readCertificates(file: string): string[] {
  const certificates = readText(file).match(block) ?? []
  if (certificates.length === 0) {
    const advice = `convert another form with openssl x509 -inform der -in ${file} -out ca.pem`
    throw new StartError(`SERVICE_NETWORK_CA=${file}: the file holds no certificate in PEM form: ${advice}`)
  }
  for (const certificate of certificates) refuseDamaged(file, certificate)
  return certificates
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const advice = 'name a file that this user may read, or remove the setting'
    throw new StartError(`SERVICE_NETWORK_CA=${file}: the file cannot be read (${code}): ${advice}`, { cause })
  }
}

function refuseDamaged(file: string, certificate: string): void {
  try {
    new X509Certificate(certificate)
  } catch (cause) {
    throw new StartError(`SERVICE_NETWORK_CA=${file}: a certificate in the file is damaged: get the file again`, {
      cause,
    })
  }
}
