// Control of people: creating them, everything they write and do, and what they received.
import type { ReceivedMessage } from '../network/people/received-message.ts'
import type { SimPerson } from '../network/people/sim-person.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError } from './fields.ts'
import type { Call, RouteTable } from './http-service.ts'
import { messageView } from './views.ts'
import { recipientAt, writeMessage } from './write-message.ts'

const MAX_WAIT_MS = 60_000

export function peopleRoutes(network: SimNetwork): RouteTable {
  const personOf = ({ params }: Call): SimPerson => {
    const person = network.personAt(params.phone ?? '')
    if (!person) throw new ControlError(404, `there is no person ${params.phone ?? ''}`)
    return person
  }
  return {
    'POST /people': ({ body }) => createPerson(network, body),
    'GET /people/:phone/messages': (call) => messagesAfter(personOf(call), call.query),
    'GET /people/:phone/messages/:id/media': (call) => {
      const person = personOf(call)
      return person.download(receivedBy(person, call.params.id ?? ''))
    },
    'GET /people/:phone/receipts': (call) => ({
      receipts: personOf(call).receipts.entries.map(({ id, type, from, device, chat }) => ({
        id,
        type,
        from: from.phone,
        device,
        chat,
      })),
    }),
    'POST /people/:phone/send': (call) => ({ id: writeMessage(network, personOf(call), call.body) }),
    'POST /people/:phone/react': (call) => {
      const person = personOf(call)
      return { id: person.react(person.known(call.body.text('message_id')), call.body.text('emoji')).id }
    },
    'POST /people/:phone/edit': (call) => {
      const person = personOf(call)
      const sent = person.known(call.body.text('message_id'))
      if ('stanza' in sent) throw new ControlError(409, 'only own messages can be edited')
      return { id: person.edit(sent, call.body.text('text')).id }
    },
    'POST /people/:phone/revoke': (call) => {
      const person = personOf(call)
      return { id: person.revoke(person.known(call.body.text('message_id'))).id }
    },
    'POST /people/:phone/vote': (call) => {
      const person = personOf(call)
      return { id: person.vote(person.known(call.body.text('message_id')), call.body.texts('options')).id }
    },
    'POST /people/:phone/typing': (call) => {
      const state = call.body.oneOf('state', ['composing', 'recording', 'paused'], 'composing')
      personOf(call).typing(recipientAt(network, call.body.text('to')), state)
    },
    'POST /people/:phone/presence': (call) => {
      const state = call.body.oneOf('state', ['available', 'unavailable'], 'available')
      personOf(call).presence(recipientAt(network, call.body.text('to')), state)
    },
    'POST /people/:phone/receipt': (call) => {
      const person = personOf(call)
      const type = call.body.oneOf('type', ['delivered', 'read', 'played'], 'read')
      const ids = call.body.has('message_ids') ? call.body.texts('message_ids') : [call.body.text('message_id')]
      person.receipt(
        type,
        ids.map((id) => receivedBy(person, id)),
      )
    },
    'POST /people/:phone/call': (call) => {
      const video = call.body.flag('video') ?? false
      return { id: personOf(call).call(recipientAt(network, call.body.text('to')), { video }).id }
    },
  }
}

function createPerson(network: SimNetwork, body: Call['body']): Record<string, unknown> {
  const lid = body.optionalText('lid')
  const pushName = body.optionalText('push_name')
  const savedAs = body.optionalText('saved_as')
  const devices = body.optionalNumber('devices')
  const person = network.person({
    phone: body.text('phone'),
    ...(lid === undefined ? {} : { lid }),
    ...(pushName === undefined ? {} : { pushName }),
    ...(savedAs === undefined ? {} : { savedAs }),
    ...(devices === undefined ? {} : { devices }),
  })
  const picture = body.bytes('picture')
  if (picture) network.setPicture(person.user, picture)
  const { user } = person
  return { phone: user.phone, lid: user.lid, push_name: user.pushName, jid: user.pnJid, lid_jid: user.lidJid }
}

/** Answers at once when something is there, else as soon as something comes or the wait is over. */
async function messagesAfter(person: SimPerson, query: URLSearchParams): Promise<Record<string, unknown>> {
  const after = Number(query.get('after') ?? '0')
  const waitMs = Math.min(Number(query.get('wait_ms') ?? '0'), MAX_WAIT_MS)
  if (person.messages.length <= after && waitMs > 0) {
    await person.messages.waitAfter(after, 'a message', () => true, waitMs).catch(() => undefined)
  }
  return { messages: person.messages.after(after).map(messageView), next: person.messages.length }
}

function receivedBy(person: SimPerson, id: string): ReceivedMessage {
  const message = person.known(id)
  if (!('stanza' in message)) throw new ControlError(409, `${id} was sent, not received, by ${person.user.phone}`)
  return message
}
