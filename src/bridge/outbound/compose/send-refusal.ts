// A message that cannot be sent as it is, now or later; the reason is shown to the agent.

export class SendRefusal extends Error {
  constructor(reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'SendRefusal'
  }
}
