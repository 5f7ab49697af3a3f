// Trust in the media host of the simulated network, whose certificate comes from an authority of its own.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { SimNetwork } from '../../sim/network/sim-network.ts'

type Authority = Pick<SimNetwork, 'authority'>

/** This process trusts the media host from now on. */
export function trustMediaHost({ authority }: Authority): void {
  setDefaultCACertificates([...getCACertificates('default'), authority.pem])
}

/** The path of a file with the certificate of the authority; the file goes with the stack. */
export async function authorityFile({ authority }: Authority, stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-ca-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'ca.pem')
  await writeFile(path, authority.pem)
  return path
}
