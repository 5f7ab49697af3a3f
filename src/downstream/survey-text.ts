// Reads the text and the link of a survey. Where the link is depends on the version of Chatwoot.

import { asObject, asText } from './json-values.ts'
import type { Payload } from './payload.ts'

const surveyPath = '/survey/responses/'

/**
 * Chatwoot 4.4 and later calls with a fixed sentence that ends in the link. The text of the survey is in the newest message of
 * the conversation then. Chatwoot 4.0 to 4.3 calls with the text alone.
 */
export function readSurvey(survey: Payload): { content: string; lacksLink: boolean } {
  const called = survey.text('content') ?? ''
  const [newest] = survey.object('conversation').objects('messages', 1)
  const isSame = newest !== undefined && newest.id('id') !== null && newest.id('id') === survey.id('id')
  const text = (isSame ? newest.filledText('content') : null) ?? called
  const link = linkIn(called)
  if (link === undefined) return { content: text, lacksLink: linkIn(text) === undefined }
  return { content: text.includes(link) ? text : `${text}\n${link}`, lacksLink: false }
}

/**
 * The address under which the customer answers the survey of a conversation. Undefined when the answer is no conversation.
 * The base URL may be one that only the service can reach. Pictures of people show the address that Chatwoot has for everybody.
 */
export function readSurveyLink(conversation: unknown, baseUrl: string): string | undefined {
  const { uuid, meta } = asObject(conversation)
  if (typeof uuid !== 'string' || !/^[\w-]{1,64}$/.test(uuid)) return undefined
  const { sender, assignee } = asObject(meta)
  const pictures = [sender, assignee].map((person) => URL.parse(asText(asObject(person)['thumbnail']) ?? ''))
  const shown = pictures.find((url) => url?.pathname.startsWith('/rails/active_storage/'))
  return `${shown?.origin ?? baseUrl}${surveyPath}${uuid}`
}

function linkIn(text: string): string | undefined {
  const word = text.split(/\s+/).find((each) => each.includes(surveyPath))
  const link = word?.slice(Math.max(word.indexOf('http'), 0))
  return link?.startsWith('http') === true ? link : undefined
}
