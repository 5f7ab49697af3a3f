// Opens a network with an account and its phone, a person called Bob, and an online client.
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SimNetwork, type SimNetworkOptions } from '../../../sim/network/sim-network.ts'
import { ANA, BOB } from './cast.ts'
import { TestClient } from './test-client.ts'

type Parts = { network: SimNetwork; phone: SimPhone; bob: SimPerson; client: TestClient }

export class Stage {
  readonly network: SimNetwork
  readonly phone: SimPhone
  readonly bob: SimPerson
  readonly client: TestClient

  private constructor({ network, phone, bob, client }: Parts) {
    this.network = network
    this.phone = phone
    this.bob = bob
    this.client = client
  }

  static async open(options: SimNetworkOptions = {}): Promise<Stage> {
    const network = await SimNetwork.start(options)
    trust(network)
    const phone = network.account(ANA)
    const bob = network.person(BOB)
    return new Stage({ network, phone, bob, client: await TestClient.linked(network, phone) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]()
    await this.network[Symbol.asyncDispose]()
  }
}

/** Trusts the simulator's own certificate authority, which signs the media host. */
export function trust(network: SimNetwork): void {
  setDefaultCACertificates([...getCACertificates('default'), network.authority.pem])
}
