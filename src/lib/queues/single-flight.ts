// Callers that ask for the same key at the same time share one answer.

export class SingleFlight {
  readonly #flights = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#flights.get(key) as Promise<T> | undefined
    if (running) return running
    const flight = work().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}
