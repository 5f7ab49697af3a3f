// The port to traces: which steps a message takes, and how long each one lasts. No step carries a text, a number or a name.

import type { DestinationKey, InstanceName, NetworkMessageId, RowId } from '../ids.ts'
import type { NetworkEvent } from '../message.ts'

/**
 * Which message a step belongs to. Steps with equal subjects are one trace, also when another process makes them, so a
 * subject names only what is stored of the message.
 */
export type TraceSubject =
  /** The events of one id are one trace: that a message cannot be decrypted yet, and the message itself. */
  | { of: 'network'; instance: InstanceName; id: NetworkMessageId; kind: NetworkEvent['kind'] }
  | { of: 'helpdesk'; destination: DestinationKey; id: number }
  /** A direct message: the helpdesk has no message when it is accepted. */
  | { of: 'outbox'; id: RowId }

/** The first step of an event or a message that is stored. Every later step is a child of it. */
type FirstStep = 'receive' | 'accept'

/**
 * callback  one request of the helpdesk, until its answer
 * deliver   one attempt to deliver a received message to the helpdesk
 * shown     a received message on its whole way, from its arrival until the helpdesk has it or it is passed over
 * send      one attempt to send an outgoing message
 * tick      the helpdesk is told what a phone reported of a message: delivered or read
 */
export type StepName = FirstStep | 'callback' | 'deliver' | 'shown' | 'send' | 'tick'

/** A step inside the step that is being worked on. */
export type InnerStepName = 'helpdesk request' | 'network send'

/** What a step says of itself. Undefined values are left out. */
export type StepFacts = {
  instance?: InstanceName
  direction?: 'in' | 'out'
  /** The kind of the event or of the row. */
  kind?: string | undefined
  /** The type of the content. */
  content?: string | undefined
  chat?: 'person' | 'group'
  bytes?: number | undefined
  attempt?: number | undefined
  outcome?: string
  method?: string
  /** What a request to the helpdesk is about, such as a contact. */
  about?: string
}

export type Step = { subject: TraceSubject; name: StepName; facts: StepFacts }

export interface Traces {
  /** The step began at `since` and is over. */
  note(step: Step, since: number): void
  /** Runs the work as a step. The work adds what it finds out to the facts. */
  during<T>(step: Step, work: (facts: StepFacts) => Promise<T>): Promise<T>
  /** Runs the work as a step inside the step that `during` runs. Outside of one it only runs the work. */
  within<T>(name: InnerStepName, facts: StepFacts, work: () => Promise<T>): Promise<T>
}

export const noTraces: Traces = {
  note: () => undefined,
  during: (_step, work) => work({}),
  within: (_name, _facts, work) => work(),
}

export function subjectOfEvent(instance: InstanceName, event: NetworkEvent): TraceSubject {
  const row = event.kind === 'message' ? event.queueId : undefined
  const { id, kind } = event
  return row === undefined ? { of: 'network', instance, id, kind } : { of: 'outbox', id: row }
}

export function subjectOfRow(row: { id: RowId; destination: DestinationKey; messageId: number | null }): TraceSubject {
  const { id, destination, messageId } = row
  return messageId === null ? { of: 'outbox', id } : { of: 'helpdesk', destination, id: messageId }
}

/** What a received event is and where, without its content. */
export function factsOfEvent(instance: InstanceName, event: NetworkEvent): StepFacts {
  const content = event.kind === 'message' ? event.content.type : undefined
  return { instance, direction: 'in', kind: event.kind, content, chat: event.chat.kind }
}
