// Passes on what the network receives. The network is created before the part that listens to it.

import type { Reception } from '../core/network.ts'

export class ReceptionRelay implements Reception {
  #listener: Reception | undefined

  connect(listener: Reception): void {
    this.#listener = listener
  }

  onReceived(...received: Parameters<Reception['onReceived']>): void {
    this.#connected().onReceived(...received)
  }

  onNames(...names: Parameters<Reception['onNames']>): void {
    this.#connected().onNames(...names)
  }

  onPairs(...pairs: Parameters<Reception['onPairs']>): void {
    this.#connected().onPairs(...pairs)
  }

  onPassedOver(...passed: Parameters<Reception['onPassedOver']>): void {
    this.#connected().onPassedOver(...passed)
  }

  onRepeated(...repeated: Parameters<Reception['onRepeated']>): void {
    this.#connected().onRepeated(...repeated)
  }

  #connected(): Reception {
    if (!this.#listener) throw new Error('the network received something before the application was complete')
    return this.#listener
  }
}
