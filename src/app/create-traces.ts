// Creates the traces of messages. Their packages are loaded only when a collector is configured.

import { noTraces } from '../core/trace/traces.ts'
import type { Traces } from '../core/trace/traces.ts'
import type { Base } from './base.ts'

/** `onDropped` is called with the number of spans that the collector will not get. */
export async function createTraces(
  { config, clock, log, build, stack }: Base,
  onDropped: (count: number) => void,
): Promise<Traces> {
  const { endpoint, headers, serviceName, share } = config.traces
  if (endpoint === null) return noTraces
  const { openTraces } = await import('../traces/open-traces.ts')
  const named = { serviceName, version: build.version }
  const { traces, spans } = openTraces({ endpoint, headers, ...named, share, onDropped, clock, log })
  stack.use(spans)
  return traces
}
