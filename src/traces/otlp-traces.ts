// Records the steps of messages as spans of OpenTelemetry. Only this room uses its packages, and it is loaded only when
// traces are switched on.

import { AsyncLocalStorage } from 'node:async_hooks'
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { Attributes, HrTime } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { DownstreamError } from '../core/downstream.ts'
import type { InnerStepName, Step, StepFacts, StepName, TraceSubject, Traces } from '../core/trace/traces.ts'
import type { Clock } from '../lib/clock.ts'
import { maskNumbers } from '../lib/text/mask-numbers.ts'
import type { SpanExport } from './span-export.ts'
import { isSampled, newSpanId, traceIdsOf } from './trace-ids.ts'

type Deps = {
  spans: Pick<SpanExport, 'add'>
  serviceName: string
  version: string
  /** The share of the messages that are traced, from 0 to 1. */
  share: number
  clock: Pick<Clock, 'now'>
}

/** Where a span stands. Without a parent it is the first one of its trace. */
type Place = { traceId: string; spanId: string; parentId?: string | undefined; isOver?: true }

type Finished = { place: Place; name: StepName | InnerStepName; facts: StepFacts; since: number; hasFailed?: boolean }

const kinds: Partial<Record<StepName | InnerStepName, SpanKind>> = {
  receive: SpanKind.CONSUMER,
  callback: SpanKind.SERVER,
  'helpdesk request': SpanKind.CLIENT,
  'network send': SpanKind.PRODUCER,
}
const scope = { name: 'causeway' }

export class OtlpTraces implements Traces {
  readonly #deps: Deps
  readonly #resource: Resource
  /** The step that is being worked on. */
  readonly #current = new AsyncLocalStorage<Place>()

  constructor(deps: Deps) {
    this.#deps = deps
    const { serviceName, version } = deps
    this.#resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  }

  note({ subject, name, facts }: Step, since: number): void {
    const place = this.#placeOf(subject, name)
    if (place) this.#finish({ place, name, facts, since })
  }

  during<T>({ subject, name, facts }: Step, work: (facts: StepFacts) => Promise<T>): Promise<T> {
    const known = { ...facts }
    const place = this.#placeOf(subject, name)
    return place ? this.#run(place, name, known, () => work(known)) : this.#current.exit(() => work(known))
  }

  within<T>(name: InnerStepName, facts: StepFacts, work: () => Promise<T>): Promise<T> {
    const outer = this.#current.getStore()
    // Work in the background can outlive the step that began it, and is then no part of it.
    if (!outer || outer.isOver) return work()
    return this.#run({ traceId: outer.traceId, spanId: newSpanId(), parentId: outer.spanId }, name, facts, work)
  }

  /** Undefined when the message is not among those that are traced. */
  #placeOf(subject: TraceSubject, name: StepName): Place | undefined {
    const ids = traceIdsOf(subject)
    if (!isSampled(ids, this.#deps.share)) return undefined
    const { traceId, firstId } = ids
    switch (name) {
      case 'receive':
        return { traceId, spanId: firstId }
      case 'accept': {
        const outer = this.#current.getStore()
        return { traceId, spanId: firstId, parentId: outer?.traceId === traceId ? outer.spanId : undefined }
      }
      // The helpdesk repeats callbacks, and a refused one has no first step. So each stands for itself.
      case 'callback':
        return { traceId, spanId: newSpanId() }
      case 'deliver':
      case 'shown':
      case 'send':
      case 'tick':
        return { traceId, spanId: newSpanId(), parentId: firstId }
    }
  }

  async #run<T>(place: Place, name: Finished['name'], facts: StepFacts, work: () => Promise<T>): Promise<T> {
    const since = this.#deps.clock.now()
    try {
      const result = await this.#current.run(place, work)
      this.#finish({ place, name, facts, since })
      return result
    } catch (error) {
      this.#finish({ place, name, facts: { outcome: failureOf(error), ...facts }, since, hasFailed: true })
      throw error
    }
  }

  #finish({ place, name, facts, since, hasFailed = false }: Finished): void {
    place.isOver = true
    const until = Math.max(this.#deps.clock.now(), since)
    const { traceId, spanId, parentId } = place
    const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED })
    const span: ReadableSpan = {
      name,
      kind: kinds[name] ?? SpanKind.INTERNAL,
      spanContext: () => contextOf(spanId),
      ...(parentId !== undefined && { parentSpanContext: contextOf(parentId) }),
      startTime: timeOf(since),
      endTime: timeOf(until),
      duration: timeOf(until - since),
      status: { code: hasFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      attributes: attributesOf(facts),
      links: [],
      events: [],
      ended: true,
      resource: this.#resource,
      instrumentationScope: scope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
    this.#deps.spans.add(span)
  }
}

/** The kind of a failure. Its message could name a person or a file. */
function failureOf(error: unknown): string {
  if (error instanceof DownstreamError) return error.failure
  return error instanceof Error ? error.name : 'failed'
}

/** Operators name instances after their numbers, and a collector is often the service of another company. */
function attributesOf(facts: StepFacts): Attributes {
  const attributes: Attributes = {}
  for (const [key, value] of Object.entries(facts)) {
    if (value !== undefined) attributes[`causeway.${key}`] = typeof value === 'string' ? maskNumbers(value) : value
  }
  return attributes
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
