// The names in the rows of the large database: in TypeScript for the queries, and in SQL for the rows themselves.

export type Sizes = {
  instances: number
  messages: number
  contacts: number
  conversations: number
  audit: number
  /** Messages to WhatsApp that wait. */
  waiting: number
}

const firstInstance = 10_000
/** Several instances share a helpdesk inbox. */
const inboxes = 10
const desk = 'https://desk.example|1|'
const [factor, range] = [2_654_435_761n, 4_294_967_296n]

/** Of the conversation or the message with that number. A message belongs to the conversation of its remainder. */
export const nameOf = {
  instance: (conversation: number, { instances }: Sizes) => `instance-${firstInstance + (conversation % instances)}`,
  destination: (conversation: number, { instances }: Sizes) => `${desk}${7 + ((conversation % instances) % inboxes)}`,
  chat: (conversation: number) => `chat-${conversation}`,
  phone: (contact: number) => `5511${900_000_000 + contact}`,
  /** Distributed like the random ids of the network. */
  network: (message: number) => `3EB0${(BigInt(message) * factor) % range}`,
}

/** The same as SQL. */
export const sqlOf = {
  text: (beginning: string, number: string) => `'${beginning}' || CAST(${number} AS TEXT)`,
  instance: (conversation: string, { instances }: Sizes) =>
    sqlOf.text('instance-', `${firstInstance} + (${conversation}) % ${instances}`),
  destination: (conversation: string, { instances }: Sizes) =>
    sqlOf.text(desk, `7 + (${conversation}) % ${instances} % ${inboxes}`),
  chat: (conversation: string) => sqlOf.text('chat-', conversation),
  phone: (contact: string) => sqlOf.text('5511', `900000000 + ${contact}`),
  network: (message: string) => sqlOf.text('3EB0', `(${message}) * ${factor} % ${range}`),
}
