// Control routes of the history on a phone: old messages, made-up archives, how history is sent, and a phone without network.
import { defined } from '../defined.ts'
import type { SimPhone } from '../network/accounts/sim-phone.ts'
import { fillArchive } from '../network/past/fill-archive.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import type { Fields } from './fields.ts'
import type { RouteTable } from './route-table.ts'
import { correspondentAt, recipientAt } from './write-message.ts'

const MAX_CHATS = 1_000
const MAX_MESSAGES = 100_000

export function historyRoutes(network: SimNetwork, phoneOf: (params: Record<string, string>) => SimPhone): RouteTable {
  return {
    'POST /accounts/:phone/history': ({ params, body }) => ({ id: remember(network, phoneOf(params), body) }),
    'POST /accounts/:phone/archive': ({ params, body }) => {
      const chats = body.whole('chats', { min: 1, max: MAX_CHATS })
      const messages = body.whole('messages', { min: 0, max: MAX_MESSAGES })
      const days = body.optionalWhole('days', { min: 1 })
      const filled = fillArchive(network, phoneOf(params), { chats, messages, ...defined({ days }) })
      return {
        ...filled,
        chats: filled.chats.map(({ jid, items, counts }) => ({ jid, messages: items.length, counts })),
      }
    },
    'POST /accounts/:phone/history-sending': ({ params, body }) => {
      const { habits } = phoneOf(params).history
      habits.carrying = body.oneOf('carrying', ['size', 'phone', 'inline', 'file'], habits.carrying)
      const trouble = body.oneOf('file_trouble', ['missing', 'expired', 'cut', 'corrupt', 'none'], 'none')
      habits.fileTrouble = trouble === 'none' ? undefined : trouble
    },
    'POST /accounts/:phone/offline': ({ params, body }) => {
      phoneOf(params).isOffline = body.flag('offline') ?? true
    },
  }
}

function remember(network: SimNetwork, phone: SimPhone, body: Fields): string {
  const chat = recipientAt(network, body.text('chat'))
  const from = body.optionalText('from')
  const author = from === undefined ? undefined : correspondentAt(network, from).user
  const more = {
    from: author,
    quote: body.optionalText('quote'),
    edited: body.optionalText('edited'),
    revoked: body.flag('revoked'),
  }
  return phone.remember(chat, { text: body.text('text'), at: body.whole('at', { min: 0 }), ...defined(more) })
}
