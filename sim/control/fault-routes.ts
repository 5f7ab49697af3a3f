// Control of faults, and the view into what went over the wire.
import type { Fault, ImmediateFault } from '../network/faults.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { describeStanza } from '../network/wire/stanza.ts'
import type { Fields } from './fields.ts'
import type { RouteTable } from './http-service.ts'

const LASTING = [
  'login_failure',
  'ack_error',
  'lost_ack',
  'lost_message',
  'lost_receipt',
  'undecryptable',
  'duplicate',
  'reorder',
  'delay',
  'drop_on',
  'query_silence',
  'query_error',
] as const
const IMMEDIATE = ['drop', 'silence', 'stream_error', 'server_restart'] as const
const UPLOAD = 'upload_refused'

export function faultRoutes(network: SimNetwork): RouteTable {
  return {
    'POST /faults': async ({ body }) => {
      const kind = body.oneOf('kind', [...LASTING, ...IMMEDIATE, UPLOAD])
      const isImmediate = IMMEDIATE.some((one) => one === kind)
      if (kind === UPLOAD) network.media.refusedUploads = body.optionalNumber('times') ?? 1
      else if (isImmediate) await network.strike(immediateFault(body))
      else network.fault(lastingFault(body))
      return { faults: network.faults.list() }
    },
    'GET /faults': () => ({ faults: network.faults.list() }),
    'DELETE /faults': () => {
      network.clearFaults()
      network.media.refusedUploads = 0
    },
    'GET /stanzas': ({ query }) => ({
      stanzas: network.log
        .find({ account: query.get('account') ?? undefined, tag: query.get('tag') ?? undefined })
        .map(({ node, ...logged }) => ({ ...logged, text: describeStanza(node) })),
      problems: network.log.problems,
    }),
  }
}

function immediateFault(body: Fields): ImmediateFault {
  const account = accountOf(body)
  const kind = body.oneOf('kind', IMMEDIATE)
  if (kind !== 'stream_error') return { kind, ...account }
  const code = body.optionalNumber('code')
  if (code !== undefined) return { kind, ...account, reason: code }
  const reason = body.oneOf('reason', ['replaced', 'device_removed', 'restart'])
  return { kind, ...account, reason }
}

function lastingFault(body: Fields): Fault {
  const times = body.optionalNumber('times')
  const common = { ...accountOf(body), ...(times === undefined ? {} : { times }) }
  const kind = body.oneOf('kind', LASTING)
  switch (kind) {
    case 'login_failure': {
      const ban = body.nested('ban')
      const banned = ban ? { ban: { code: ban.number('code'), expire: ban.number('expire') } } : {}
      return { kind, code: body.number('code'), ...banned, ...common }
    }
    case 'ack_error':
      return { kind, code: body.number('code'), ...common }
    case 'reorder':
      return { kind, count: body.number('count'), ...common }
    case 'delay':
      return { kind, ms: body.number('ms'), ...common }
    case 'drop_on':
      return { kind, tag: body.text('tag'), nth: body.optionalNumber('nth') ?? 1, ...common }
    case 'query_silence':
      return { kind, query: body.text('query'), ...common }
    case 'query_error':
      return { kind, query: body.text('query'), code: body.number('code'), ...common }
    case 'lost_ack':
    case 'lost_message':
    case 'lost_receipt':
    case 'undecryptable':
    case 'duplicate':
      return { kind, ...common }
  }
}

function accountOf(body: Fields): { account?: string } {
  const account = body.optionalText('account')
  return account === undefined ? {} : { account }
}
