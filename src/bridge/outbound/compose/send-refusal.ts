// The error for a message that cannot be sent as it is, now or later. The agent sees the reason.

export class SendRefusal extends Error {
  constructor(reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'SendRefusal'
  }
}
