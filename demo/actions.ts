// Everything that a click on the page does, by its name.

import { DemoError } from './demo-error.ts'
import type { Show } from './show.ts'

/** The fields of a request. The page names the texts, so that the people speak the language of the visitor. */
export type Fields = Readonly<Record<string, unknown>>
type Action = (show: Show, fields: Fields) => unknown

const longestText = 2000

export const actions: Readonly<Record<string, Action>> = {
  scan: (show) => show.scan(),
  write: ({ customer }, fields) =>
    fields['chat'] === 'group' ? customer.answerInGroup(text(fields)) : customer.write(text(fields)),
  photo: ({ customer }, fields) => customer.sendPhoto(text(fields)),
  voice: ({ customer }) => customer.sendVoiceNote(),
  reaction: ({ customer }) => customer.react('❤️'),
  quote: ({ customer }, fields) => customer.quote(text(fields)),
  group: ({ customer }, fields) => customer.writeInGroup(text(fields, 'subject'), text(fields)),
  call: ({ customer }) => customer.call(),
  'hang-up': ({ customer }) => {
    customer.hangUp()
  },
  edit: ({ customer }, fields) => customer.edit(text(fields)),
  delete: ({ customer }) => customer.delete(),

  open: ({ manners }, fields) => {
    manners.open(whole(fields, 'conversation'))
  },
  answer: ({ agent }, fields) => {
    const quoted = fields['quote'] === undefined ? undefined : whole(fields, 'quote')
    return agent.answer(whole(fields, 'conversation'), text(fields), quoted)
  },
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
  kill: ({ breakages, customer }, fields) => {
    const [before, whileDead] = [text(fields), text(fields, 'later')]
    customer.write(before)
    return breakages.killBridge(() => customer.write(whileDead))
  },
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
