// Renders the Liquid in an outgoing text as Chatwoot does, with the library liquidjs.

import { Liquid } from 'liquidjs'
import type { ConversationRow, Sender } from '../state/rows.ts'

type LiquidContext = { conversation: ConversationRow; sender: Sender | null }
type Variables = Record<string, Record<string, string | number | null>>

// The text comes from a client and rendering blocks the process, so size, memory and time are limited.
const mostDelimiters = 5_000
const mostCharacters = 1_000_000
const mostMilliseconds = 1_000

const engine = new Liquid({
  templates: {},
  ownPropertyOnly: true,
  parseLimit: mostCharacters,
  memoryLimit: mostCharacters,
  renderLimit: mostMilliseconds,
})
// Chatwoot has no layouts and no files to include.
for (const tag of ['block', 'include', 'layout', 'render']) Reflect.deleteProperty(engine.tags, tag)

/** Leaves the text as it is when the text is no valid template or exceeds a limit. */
export function renderLiquid(text: string, context: LiquidContext): string {
  const delimiters = countDelimiters(text)
  if (delimiters === 0 || delimiters > mostDelimiters) return text
  const template = toTemplate(text)
  if (countDelimiters(template) > mostDelimiters) return text
  try {
    const rendered = String(engine.parseAndRenderSync(template, variablesOf(context)))
    return rendered.length > mostCharacters ? text : rendered
  } catch {
    return text
  }
}

function countDelimiters(text: string): number {
  return text.match(/\{[{%]/g)?.length ?? 0
}

/** Chatwoot renders nothing inside backticks. */
function toTemplate(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((piece, at) => (at % 2 === 1 ? `{% raw %}${piece}{% endraw %}` : withoutUnreadableOutputs(piece)))
    .join('')
}

/** Chatwoot's parser is lenient: an output such as `{{ 50% off }}` renders as nothing, and the template is valid. */
function withoutUnreadableOutputs(text: string): string {
  return text.replace(/\{\{[^{}]*\}\}/g, (output) => (isReadable(output) ? output : ''))
}

function isReadable(output: string): boolean {
  try {
    engine.parse(output)
    return true
  } catch {
    return false
  }
}

function variablesOf({ conversation, sender }: LiquidContext): Variables {
  const { contact, inbox, account } = conversation
  const agent = sender?.type === 'User' ? sender.user : conversation.assignee
  return {
    contact: { ...namesOf(contact.name), email: contact.email, phone_number: contact.phoneNumber },
    agent: { ...namesOf(agent?.name ?? ''), email: agent?.email ?? null },
    conversation: { display_id: conversation.displayId },
    inbox: { name: inbox.name },
    account: { name: account.name },
  }
}

function namesOf(name: string): Record<'name' | 'first_name' | 'last_name', string | null> {
  const words = name.split(/\s+/).filter(Boolean).map(capitalize)
  return {
    name: words.join(' '),
    first_name: words[0] ?? null,
    last_name: words.length > 1 ? (words.at(-1) ?? null) : null,
  }
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
}
