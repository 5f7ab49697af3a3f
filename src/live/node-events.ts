// Live events on their way from one node to another: the form of server-sent events, with a line that says under which epoch the
// node holds the instance.

import type { InstanceName } from '../core/ids.ts'
import { liveKinds } from '../core/live.ts'
import type { LiveKind } from '../core/live.ts'
import { formatEvent } from './event-ring.ts'
import { maxWaitingBytes } from './listeners.ts'

/** The instance that an event shows, and the epoch under which the node that tells it holds the instance. */
export type Subject = { instance: InstanceName; epoch: number }

/** Events of one instance come from the node that holds it. Without a subject, it does not matter which event came first. */
export type NodeEvent = { kind: LiveKind; data: unknown; subject: Subject | undefined }

export function formatNodeEvent({ kind, data, subject }: NodeEvent): string {
  return (subject ? `of: ${subject.epoch} ${subject.instance}\n` : '') + formatEvent({ kind, data })
}

/** Takes the stream apart. Throws on what no node writes. */
export class NodeEventReader {
  readonly #decoder = new TextDecoder()
  #text = ''

  read(chunk: Uint8Array): NodeEvent[] {
    const blocks = (this.#text + this.#decoder.decode(chunk, { stream: true })).split('\n\n')
    this.#text = blocks.pop() ?? ''
    if (this.#text.length > maxWaitingBytes) throw new Error('an event of another node has no end')
    return blocks.flatMap((block) => parseBlock(block))
  }
}

/** Comments, the last words of a stream, and kinds that only a newer version knows are left out. */
function parseBlock(block: string): NodeEvent[] {
  const fields = new Map(
    block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)] as const),
  )
  const kind = liveKinds.find((each) => each === fields.get('event'))
  if (!kind) return []
  return [{ kind, data: JSON.parse(fields.get('data') ?? ''), subject: parseSubject(fields.get('of')) }]
}

function parseSubject(text: string | undefined): Subject | undefined {
  const [epoch, instance] = text?.split(' ') ?? []
  return instance === undefined ? undefined : { instance, epoch: Number(epoch) }
}
