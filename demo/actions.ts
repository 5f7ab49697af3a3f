// Everything that a click on the page does, by its name.

import type { Customer } from './customer.ts'
import { DemoError } from './demo-error.ts'
import type { Show } from './show.ts'

/** The fields of a request. The page names the texts, so that the people speak the language of the visitor. */
export type Fields = Readonly<Record<string, unknown>>
type Action = (show: Show, fields: Fields) => unknown

const longestText = 2000

export const actions: Readonly<Record<string, Action>> = {
  /** The customer writes first, as soon as the account is linked, also if the page was closed meanwhile. */
  scan: async (show, fields) => {
    const greeting = text(fields)
    await show.scan()
    show.customer.write(greeting)
  },
  write: (show, fields) => {
    const customer = customerOf(show)
    return fields['chat'] === 'group' ? customer.answerInGroup(text(fields)) : customer.write(text(fields))
  },
  photo: (show, fields) => customerOf(show).sendPhoto(text(fields)),
  voice: (show) => customerOf(show).sendVoiceNote(),
  reaction: (show) => customerOf(show).react('❤️'),
  quote: (show, fields) => customerOf(show).quote(text(fields)),
  group: (show, fields) => customerOf(show).writeInGroup(text(fields, 'subject'), text(fields)),
  call: (show) => customerOf(show).call(),
  'hang-up': (show) => {
    customerOf(show).hangUp()
  },
  edit: (show, fields) => customerOf(show).edit(text(fields)),
  delete: (show) => customerOf(show).delete(),

  open: ({ manners }, fields) => {
    manners.open(whole(fields, 'conversation'))
  },
  answer: ({ agent }, fields) => agent.answer(whole(fields, 'conversation'), text(fields)),
  'answer-photo': ({ agent }, fields) => agent.sendPhoto(whole(fields, 'conversation'), text(fields)),
  'answer-delete': ({ agent }, fields) => agent.delete(whole(fields, 'conversation'), whole(fields, 'message')),
  retry: ({ agent }, fields) => agent.retry(whole(fields, 'conversation'), whole(fields, 'message')),
  typing: ({ agent }, fields) => agent.type(whole(fields, 'conversation'), fields['on'] === true),

  'cut-network': ({ breakages }) => breakages.cutNetwork(),
  'restore-network': ({ breakages }) => breakages.restoreNetwork(),
  'stop-helpdesk': ({ breakages }) => breakages.stopHelpdesk(),
  'start-helpdesk': ({ breakages }) => breakages.startHelpdesk(),
  twice: ({ breakages }, fields) => {
    breakages.deliverTwice(fields['on'] === true)
  },
  'kill-node': ({ breakages }, fields) => breakages.killNode(whole(fields, 'node')),
  'start-node': ({ breakages }, fields) => breakages.startNode(whole(fields, 'node')),
  kill: (show, fields) => {
    const customer = customerOf(show)
    const [before, whileDead] = [text(fields), text(fields, 'later')]
    return show.breakages.killBridge(
      () => customer.write(before),
      () => customer.write(whileDead),
    )
  },
}

/** What is written to a number that is not linked reaches no bridge. */
function customerOf({ customer, isLinked }: Show): Customer {
  if (!isLinked) throw new DemoError('Scan the QR code first.')
  return customer
}

function text(fields: Fields, name = 'text'): string {
  const value = fields[name]
  if (typeof value !== 'string' || value.trim() === '') throw new DemoError(`Write a text first ("${name}").`)
  if (value.length > longestText) throw new DemoError(`Write at most ${longestText} characters.`)
  return value
}

function whole(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new DemoError(`"${name}" must be a whole number above 0.`)
}
