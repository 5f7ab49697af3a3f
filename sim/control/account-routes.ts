// Control routes of accounts: creating, linking, unlinking, and the owner's actions on the phone.
import { defined } from '../defined.ts'
import type { SimPhone } from '../network/accounts/sim-phone.ts'
import { BufferJSON } from '../network/library.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError, type Fields } from './fields.ts'
import type { RouteTable } from './route-table.ts'
import { historyRoutes } from './history-routes.ts'
import { readQr } from './read-qr.ts'
import { accountView } from './views.ts'
import { correspondentAt, recipientAt, setTimer, writeMessage } from './write-message.ts'

export function accountRoutes(network: SimNetwork): RouteTable {
  const phoneOf = (params: Record<string, string>): SimPhone => {
    const phone = network.phone(params.phone ?? '')
    if (!phone) throw new ControlError(404, `there is no account ${params.phone ?? ''}`)
    return phone
  }
  return {
    'POST /accounts': ({ body }) => {
      const linked = body.flag('linked') ?? false
      const isMigrated = body.flag('migrated')
      const optional = defined({ lid: body.optionalText('lid'), name: body.optionalText('name'), isMigrated })
      const phone = network.account({ phone: body.text('phone'), ...optional })
      phone.asksPasskey = body.flag('passkey') ?? false
      if (!linked) return accountView(phone)
      // The client library revives bytes that this replacer wrote.
      const credentials: unknown = JSON.parse(JSON.stringify(network.linkReady(phone), BufferJSON.replacer))
      return { ...accountView(phone), credentials }
    },
    'GET /accounts/:phone': ({ params }) => accountView(phoneOf(params)),
    'POST /accounts/:phone/scan': async ({ params, body }) => ({ device: await phoneOf(params).scan(qrText(body)) }),
    'POST /accounts/:phone/link': async ({ params, body }) => ({
      device: await phoneOf(params).link(body.text('code')),
    }),
    'POST /accounts/:phone/unlink': ({ params, body }) => {
      const phone = phoneOf(params)
      const device = body.optionalNumber('device')
      if (device !== undefined && !phone.companions.some((one) => one.id === device)) {
        throw new ControlError(404, `${phone.user.phone} has no linked device ${device}`)
      }
      phone.unlink(device)
    },
    'POST /accounts/:phone/migrate': ({ params }) => {
      phoneOf(params).migrate(network.people())
    },
    'POST /accounts/:phone/send': ({ params, body }) => ({ id: writeMessage(network, phoneOf(params), body) }),
    'POST /accounts/:phone/timer': ({ params, body }) => ({ id: setTimer(network, phoneOf(params), body) }),
    'POST /accounts/:phone/default-timer': ({ params, body }) => {
      phoneOf(params).setDefaultTimer(body.whole('seconds', { min: 0 }))
    },
    'POST /accounts/:phone/read': ({ params, body }) => ({
      ids: phoneOf(params).read(recipientAt(network, body.text('chat'))),
    }),
    'POST /accounts/:phone/contacts': ({ params, body }) => {
      const person = correspondentAt(network, body.text('person'))
      phoneOf(params).saveContact(person, body.optionalText('name'))
    },
    ...historyRoutes(network, phoneOf),
  }
}

function qrText(body: Fields): string {
  const png = body.bytes('png_base64')
  if (png) return readQr(png)
  const qr = body.text('qr')
  const picture = /^data:image\/png;base64,(.*)$/.exec(qr)?.[1]
  return picture === undefined ? qr : readQr(Buffer.from(picture, 'base64'))
}
