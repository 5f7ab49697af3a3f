// More accounts than the one on the screen, so that every node has something to hold.

import { readQr } from '../../sim/control/read-qr.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import { BridgeApi } from '../bridge-api.ts'
import type { BridgeProcess } from '../bridge-process.ts'

const names = ['north', 'south', 'west']
const askAgainMs = 200

/** Each account is linked when this resolves. The node that is asked to create an account holds it. */
export async function linkBranches(network: SimNetwork, processes: readonly BridgeProcess[]): Promise<void> {
  await Promise.all(
    names.map(async (name, index) => {
      const node = processes[(index + 1) % processes.length]
      if (!node) return
      const api = new BridgeApi(node.url)
      await api.expect('POST', '/api/instances', { name })
      const phone = network.account({ phone: `551199999000${index + 2}`, name: `Velo ${name}` })
      await phone.scan(readQr(await qrOf(api, name)))
      await api.expect('GET', `/api/instances/${name}/wait-ready`)
    }),
  )
}

async function qrOf(api: BridgeApi, name: string): Promise<Buffer> {
  for (;;) {
    const { status, bytes } = await api.ask('GET', `/api/instances/${name}/qr?format=png`)
    if (status === 200) return bytes
    await new Promise((resolve) => setTimeout(resolve, askAgainMs))
  }
}
