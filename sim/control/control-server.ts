// The control API of the simulator: everything a test can do in process, over HTTP.
import type { SimNetwork } from '../network/sim-network.ts'
import { accountRoutes } from './account-routes.ts'
import { faultRoutes } from './fault-routes.ts'
import { groupRoutes } from './group-routes.ts'
import { HttpService } from './http-service.ts'
import { peopleRoutes } from './people-routes.ts'

export class ControlServer {
  readonly url: string
  readonly #service: HttpService

  private constructor(service: HttpService, url: string) {
    this.#service = service
    this.url = url
  }

  static async start(network: SimNetwork, port = 0): Promise<ControlServer> {
    const service = new HttpService({
      ...accountRoutes(network),
      ...peopleRoutes(network),
      ...groupRoutes(network),
      ...faultRoutes(network),
    })
    return new ControlServer(service, await service.listen(port))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
  }
}
