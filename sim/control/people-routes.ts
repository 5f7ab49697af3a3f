// Control routes of people: creating a person, writing as that person, and reading what the person received.
import { defined } from '../defined.ts'
import { carriedMedia } from '../network/media/media-contents.ts'
import type { SentMessage } from '../network/people/sent-message.ts'
import type { ReceivedMessage } from '../network/people/received-message.ts'
import type { SimPerson } from '../network/people/sim-person.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError, wholeNumber } from './fields.ts'
import type { Call, RouteTable } from './route-table.ts'
import { messageView, personView } from './views.ts'
import { recipientAt, setTimer, writeMessage } from './write-message.ts'

const MAX_WAIT_MS = 60_000
/** One phone and four companions. */
const MAX_DEVICES = 5

type PersonOf = (call: Call) => SimPerson

export function peopleRoutes(network: SimNetwork): RouteTable {
  const personOf: PersonOf = ({ params }) => {
    const person = network.personAt(params.phone ?? '')
    if (!person) throw new ControlError(404, `there is no person ${params.phone ?? ''}`)
    return person
  }
  return {
    'POST /people': ({ body }) => createPerson(network, body),
    'GET /people/:phone': (call) => personView(personOf(call)),
    'GET /people/:phone/messages': (call) => messagesAfter(personOf(call), call.query),
    'GET /people/:phone/messages/:id/media': (call) => {
      const person = personOf(call)
      return person.download(receivedBy(person, call.params.id ?? ''))
    },
    'GET /people/:phone/receipts': (call) => ({
      receipts: personOf(call).receipts.entries.map(({ from, ...receipt }) => ({ ...receipt, from: from.phone })),
    }),
    ...writingRoutes(network, personOf),
    ...signRoutes(network, personOf),
  }
}

/** Routes that write a message or change one: reactions, edits, votes, revokes. */
function writingRoutes(network: SimNetwork, personOf: PersonOf): RouteTable {
  const about = (write: (person: SimPerson, id: string, body: Call['body']) => SentMessage) => {
    return (call: Call): { id: string } => ({
      id: write(personOf(call), call.body.text('message_id'), call.body).id,
    })
  }
  return {
    'POST /people/:phone/send': (call) => ({ id: writeMessage(network, personOf(call), call.body) }),
    'POST /people/:phone/timer': (call) => ({ id: setTimer(network, personOf(call), call.body) }),
    'POST /people/:phone/react': about((person, id, body) => person.react(person.known(id), body.text('emoji'))),
    'POST /people/:phone/revoke': about((person, id) => person.revoke(person.known(id))),
    'POST /people/:phone/vote': about((person, id, body) => person.vote(person.known(id), body.texts('options'))),
    'POST /people/:phone/spoil': (call) => {
      const file = carriedMedia(personOf(call).known(call.body.text('message_id')).message)
      if (!file) throw new ControlError(409, 'this message carries no file')
      const trouble = call.body.oneOf('trouble', ['missing', 'expired', 'cut', 'corrupt', 'none'])
      network.media.trouble(file.directPath, trouble === 'none' ? undefined : trouble)
    },
    'POST /people/:phone/edit': about((person, id, body) => {
      const sent = person.known(id)
      if ('stanza' in sent) throw new ControlError(409, 'only own messages can be edited')
      return person.edit(sent, body.text('text'))
    }),
  }
}

/** Routes for actions that are no chat messages: typing, presence, receipts, calls, status, profile changes. */
function signRoutes(network: SimNetwork, personOf: PersonOf): RouteTable {
  return {
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
      const received = ids.map((id) => receivedBy(person, id))
      person.receipt(type, received)
    },
    'POST /people/:phone/call': (call) => {
      const video = call.body.flag('video') ?? false
      return { id: personOf(call).call(recipientAt(network, call.body.text('to')), { video }).id }
    },
    'POST /people/:phone/status': (call) => {
      const carrier = call.body.oneOf('carrier', ['message', 'status'], 'message')
      return { id: personOf(call).status(call.body.text('text'), { carrier }).id }
    },
    'POST /people/:phone/rename': (call) => {
      personOf(call).user.pushName = call.body.text('push_name')
    },
    'POST /people/:phone/hide-phone': (call) => {
      personOf(call).user.hidesPhone = call.body.flag('hidden') ?? true
    },
    'POST /people/:phone/reinstall': (call) => {
      personOf(call).reinstall()
    },
  }
}

function createPerson(network: SimNetwork, body: Call['body']): Record<string, unknown> {
  const picture = body.bytes('picture')
  const person = network.person({
    phone: body.text('phone'),
    hidesPhone: body.flag('hides_phone') ?? false,
    ...defined({
      lid: body.optionalText('lid'),
      pushName: body.optionalText('push_name'),
      savedAs: body.optionalText('saved_as'),
      devices: body.optionalWhole('devices', { min: 1, max: MAX_DEVICES }),
    }),
  })
  if (picture) network.setPicture(person, picture)
  return personView(person)
}

/** Answers at once when there is a message. Otherwise it answers when one comes or when the wait is over. */
async function messagesAfter(person: SimPerson, query: URLSearchParams): Promise<Record<string, unknown>> {
  const after = wholeNumber('after', Number(query.get('after') ?? '0'), { min: 0 })
  const waitMs = Math.min(wholeNumber('wait_ms', Number(query.get('wait_ms') ?? '0'), { min: 0 }), MAX_WAIT_MS)
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
