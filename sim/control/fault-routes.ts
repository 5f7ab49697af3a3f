// Control routes of faults, and of the log of stanzas.
import { defined } from '../defined.ts'
import type { Fault, ImmediateFault } from '../network/faults.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { describeStanza } from '../network/wire/stanza.ts'
import { ControlError, type Fields } from './fields.ts'
import type { RouteTable } from './route-table.ts'

const LASTING = [
  'login_failure',
  'foreign_certificate',
  'ack_error',
  'call_error',
  'ack_hint',
  'lost_ack',
  'lost_message',
  'lost_receipt',
  'paused_backlog',
  'lost_backlog_end',
  'token_required',
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
const COUNT = { min: 1 }
const CODE = { min: 1, max: 9_999 }
/** A timer cannot wait longer than this. */
const DELAY = { min: 0, max: 2 ** 31 - 1 }

export function faultRoutes(network: SimNetwork): RouteTable {
  return {
    'POST /faults': async ({ body }) => {
      const kind = body.oneOf('kind', [...LASTING, ...IMMEDIATE, UPLOAD])
      const isImmediate = IMMEDIATE.some((one) => one === kind)
      if (kind === UPLOAD) network.media.refusedUploads = body.optionalWhole('times', COUNT) ?? 1
      else if (isImmediate) await network.strike(immediateFault(network, body))
      else network.fault(lastingFault(network, body))
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
      violations: network.log.violations,
    }),
  }
}

function immediateFault(network: SimNetwork, body: Fields): ImmediateFault {
  const account = accountOf(network, body)
  const kind = body.oneOf('kind', IMMEDIATE)
  if (kind !== 'stream_error') return { kind, ...account }
  const code = body.optionalWhole('code', CODE)
  if (code !== undefined) return { kind, ...account, reason: code }
  const reason = body.oneOf('reason', ['replaced', 'device_removed', 'restart'])
  return { kind, ...account, reason }
}

function lastingFault(network: SimNetwork, body: Fields): Fault {
  const common = { ...accountOf(network, body), ...defined({ times: body.optionalWhole('times', COUNT) }) }
  const kind = body.oneOf('kind', LASTING)
  switch (kind) {
    case 'login_failure': {
      const ban = body.nested('ban')
      const banned = ban ? { ban: { code: ban.number('code'), expire: ban.number('expire') } } : {}
      return { kind, code: body.whole('code', CODE), ...banned, ...common }
    }
    case 'ack_error':
    case 'call_error':
      return { kind, code: body.whole('code', CODE), ...common }
    case 'ack_hint':
      return { kind, ...hintsOf(body), ...common }
    case 'reorder':
      return { kind, count: body.whole('count', COUNT), ...common }
    case 'delay':
      return { kind, ms: body.whole('ms', DELAY), ...common }
    case 'drop_on':
      return { kind, tag: body.text('tag'), nth: body.optionalWhole('nth', COUNT) ?? 1, ...common }
    case 'query_silence':
      return { kind, query: body.text('query'), ...common }
    case 'query_error':
      return { kind, query: body.text('query'), code: body.whole('code', CODE), ...common }
    case 'foreign_certificate':
    case 'lost_ack':
    case 'lost_message':
    case 'lost_receipt':
    case 'paused_backlog':
    case 'lost_backlog_end':
    case 'token_required':
    case 'undecryptable':
    case 'duplicate':
      return { kind, ...common }
  }
}

function hintsOf(body: Fields): Pick<Extract<Fault, { kind: 'ack_hint' }>, 'refreshLid' | 'addressingMode'> {
  const hasMode = body.optionalText('addressing_mode') !== undefined
  const addressingMode = hasMode ? body.oneOf('addressing_mode', ['pn', 'lid']) : undefined
  return defined({ refreshLid: body.flag('refresh_lid'), addressingMode })
}

/** Refuses an unknown account: its fault would never strike. */
function accountOf(network: SimNetwork, body: Fields): { account?: string } {
  const account = body.optionalText('account')
  if (account === undefined) return {}
  if (!network.phone(account)) throw new ControlError(404, `there is no account ${account}`)
  return { account }
}
