// Checks that all work on foreign text takes time in proportion to the length of the text. The table lists every function that
// reads a text of WhatsApp, of Chatwoot or of an HTTP request.
// Runs alone: it measures CPU time.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { escapeName } from '../src/bridge/inbound/compose/markdown/escape-all.ts'
import { renderGroupChanges } from '../src/bridge/inbound/compose/group-changes.ts'
import { mentionsOf } from '../src/bridge/inbound/compose/mentions.ts'
import { renderAd, renderContent, renderMessage, renderQuote, truncate } from '../src/bridge/inbound/compose/render.ts'
import { isPlainText } from '../src/bridge/inbound/compose/plain-text.ts'
import { plainToMarkdown, textToMarkdown } from '../src/bridge/inbound/compose/text-to-markdown.ts'
import { textsOf } from '../src/bridge/inbound/compose/texts.ts'
import { readMemberAddress } from '../src/bridge/groups/member-addresses.ts'
import { writeMemberList } from '../src/bridge/groups/member-list.ts'
import { fileNameOf as nameOfMedia } from '../src/bridge/inbound/files/file-names.ts'
import { markdownToText } from '../src/bridge/outbound/compose/markdown-to-text.ts'
import { mentionMembers } from '../src/bridge/outbound/compose/mention-members.ts'
import { Fingerprints } from '../src/guard/fingerprints.ts'
import { pastTimeFormat } from '../src/history/dates/past-time.ts'
import { unsendable } from '../src/bridge/outbound/accept/commands.ts'
import { previewOf } from '../src/bridge/outbound/send/outbound-metrics.ts'
import { recipientChat } from '../src/bridge/outbound/send/recipients.ts'
import { chatOfSourceId } from '../src/bridge/conversations/contact-spec.ts'
import { isOurs } from '../src/bridge/sync/avatars/avatar-rules.ts'
import { contactName, mentionName } from '../src/bridge/people/names.ts'
import { parseChat } from '../src/core/address.ts'
import { BridgeError } from '../src/core/errors.ts'
import { parseNetworkProxy } from '../src/core/network-proxy.ts'
import { phoneVariants } from '../src/core/phone-variants.ts'
import { translateReason } from '../src/core/reasons/reason.ts'
import { callbackFailureOf } from '../src/downstream/callback-failure.ts'
import { readCallback } from '../src/downstream/callback.ts'
import { readSurveyLink } from '../src/downstream/survey-text.ts'
import { findChoice } from '../src/bridge/conversations/find-choice.ts'
import { contactFields } from '../src/downstream/contact-finder.ts'
import { encodeMessage } from '../src/downstream/encode-message.ts'
import { explainAnswer } from '../src/downstream/failures.ts'
import { fileNameOf as nameOfDownload } from '../src/downstream/file-name.ts'
import { chatwootLimits } from '../src/downstream/limits.ts'
import { sentAt } from '../src/downstream/signature.ts'
import { readFormFile } from '../src/http/form-file.ts'
import { refuseDeepNesting } from '../src/http/json-body.ts'
import { DashboardSessions } from '../src/http/session/dashboard-sessions.ts'
import { EventRing } from '../src/live/event-ring.ts'
import { findOtherOrigin } from '../src/http/session/same-origin.ts'
import { readSessionCookies } from '../src/http/session/session-cookie.ts'
import { SignInTries } from '../src/http/session/sign-in-tries.ts'
import { PastContent } from '../src/history/posting/past-content.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { maskNumbers } from '../src/lib/text/mask-numbers.ts'
import { checkInbox } from '../src/setup/checks/inbox-checks.ts'
import type { InboxFacts } from '../src/setup/checks/inbox-checks.ts'
import { cleaned, cleanId, cleanName } from '../src/network/decode/clean.ts'
import { receiptsOf } from '../src/network/decode/receipt.ts'
import { readCard } from '../src/network/decode/vcard.ts'
import { HistoryParser } from '../src/network/history/history-parser.ts'
import { readPastMessage } from '../src/network/history/past-message.ts'
import { SlimHistory } from '../src/network/history/slim-history.ts'
import { memberResults } from '../src/network/groups/member-results.ts'
import { proto } from '../src/network/library/library.ts'
import { readGroup } from '../src/network/groups/read-group.ts'
import { findRevision } from '../src/network/version/version-numbers.ts'
import { createIgnoreRule } from '../src/bridge/inbound/ignored-chats.ts'
import { parseWebhookAddress, shownAddress } from '../src/setup/webhook-address.ts'
import { hostileTexts, knownAttacks, writeHostile } from './harness/hostile-text.ts'
import type { HostileText } from './harness/hostile-text.ts'
import { assertLinear } from './harness/linear-time.ts'

const texts = textsOf.en
const person = (text: string) => ({ phone: null, lid: '1', pushName: text, savedName: text, redactedPhone: text })
const written = (text: string) => textToMarkdown(text)
const render = (content: Parameters<typeof renderContent>[0]) => renderContent(content, { texts, written })
const settings = {
  headerTemplate: '`$phone · $name`',
  mentionTemplate: '@$name',
  groupHeaderSeparator: '\n\n',
  reactionHeaderSeparator: '\n',
}
const sessions = new DashboardSessions({ key: Buffer.alloc(32), clock: systemClock })
const silent = createLog({ level: 'info', format: 'json', destination: { write: () => undefined } })
const pastContent = new PastContent({
  files: { fetch: () => Promise.reject(new Error('no file')) },
  ...{ mediaMaxBytes: 1, log: silent },
})
const destination = { baseUrl: 'https://helpdesk.example', accountId: 1, inboxId: 1, apiToken: 'x' }
const asked = { method: 'POST', about: 'message', destination } as const
const noText = { phone: null, identifier: null, sourceId: null }
const media = { type: 'media', media: 'document', size: 1, seconds: null, caption: null } as const
const file = { kind: 'document', url: null, directPath: null, mediaKey: '', sha256: null, encSha256: null } as const
const refusal = (text: string) => ({
  status: 422,
  headers: { 'retry-after': text },
  body: Buffer.of(),
  json: () => ({ error: text }),
})
const inboxWith = (webhookUrl: string): InboxFacts => ({
  inbox: { id: 1, name: '', isApi: true, webhookUrl, secret: null, isLockedToSingleConversation: false },
  instance: 'shop',
  publicUrl: 'https://bridge.example',
  use: 'none',
  isAdministrator: true,
  secrets: [],
  mode: 'new',
})
const callback = (text: string) => ({
  event: 'message_created',
  id: 1,
  message_type: 'outgoing',
  content: text,
  content_type: 'cards',
  content_attributes: { items: [{ title: text, description: text, actions: [{ text, uri: text }] }] },
  attachments: [{ data_url: `https://helpdesk.example/${text}` }],
})

const participant = (text: string) => {
  const attrs = { jid: `${text}@lid`, phone_number: text, display_name: text, error: text }
  return { tag: 'participant', attrs, content: [{ tag: 'add_request', attrs: { code: text, expiration: text } }] }
}
const groupAnswer = (text: string) => {
  const body = { tag: 'body', attrs: {}, content: Buffer.from(text) }
  const content = [participant(text), { tag: 'description', attrs: { id: text }, content: [body] }]
  const attrs = { id: '1', subject: text, creator: text, creation: text, size: text }
  return { tag: 'iq', attrs: {}, content: [{ tag: 'group', attrs, content }] }
}
/** A card with a long title and many buttons of the same name. */
const manyCards = (text: string) => [
  { title: text, actions: (text.match(/[^]{1,20}/g) ?? []).map(() => ({ text: 'Buy' })) },
]

/** By where the text comes from. Every entry gets the whole hostile text. */
const readers: Record<string, (text: string) => unknown> = {
  // From WhatsApp: texts, captions, quotes, options, cards, names, files.
  'a text': (text) => textToMarkdown(text, (digits) => (digits.startsWith('5') ? '@Ana' : undefined)),
  'a text that may be plain': (text) => [isPlainText(text), isPlainText(text.slice(0, 250))],
  'a title': plainToMarkdown,
  'a name in a text': escapeName,
  'a line of the log that is shown': maskNumbers,
  'a quote': (text) => renderQuote({ author: person(text), text }, '@$name'),
  'a header': (text) => renderMessage({ header: person(text), separator: '\n', quote: null, body: text }, settings),
  'a mentioned name': (text) => mentionsOf([person(text)], '@$name'),
  'a poll': (text) => render({ type: 'poll', question: 'x', options: [text] }),
  'an answer': (text) => [findChoice(text, ['Yes', 'No']), findChoice('2', [text, text])],
  'a choice': (text) => render({ type: 'choice', text, description: null }),
  'a place': (text) =>
    render({ type: 'location', latitude: 1, longitude: 1, name: text, address: null, caption: null, live: false }),
  'a pattern of ignored chats': (text) => createIgnoreRule([text])({ kind: 'group', id: text }),
  'a pattern with many stars': (text) =>
    createIgnoreRule([`${'*a'.repeat(50)}*b`])({ kind: 'group', id: `${text}${'a'.repeat(text.length)}` }),
  'a card': (text) => render({ type: 'contacts', cards: [{ name: text, phones: [], organisation: null }] }),
  'an unknown kind': (text) => render({ type: 'unsupported', name: 'x', text }),
  'an ad': (text) => renderAd({ title: text, body: null, url: null }, texts),
  'a cut text': (text) => truncate(text, 'incoming', { fits: () => false, safeLength: text.length + 1000 }, texts),
  'a subject': (text) => renderGroupChanges([{ change: 'subject', subject: text }], text, () => '', texts.change),
  'the name of a contact': (text) => [contactName(person(text)), mentionName(person(text))],
  'the name of a received file': (text) => nameOfMedia({ ...media, file, mimeType: text, fileName: text }, 'id'),
  'the placeholder of a file of the history': (text) =>
    pastContent.contentOf(
      {
        write: ({ notice = '' } = {}) => ({ content: notice }),
        media: { ...media, file, mimeType: '', fileName: text },
        locale: 'en',
      },
      { stage: 'whole', file: 'left', head: null },
    ),
  'a vCard': (text) => readCard(null, text),
  'the fields of a vCard': (text) => readCard(null, `N:${text}\nORG:${text}\nTEL;${text}:${text}`),
  'a message of a history': (text) => {
    const message = { key: { remoteJid: '1@lid', id: text }, messageTimestamp: 1, message: { conversation: text } }
    const bytes = proto.HistorySyncMsg.encode({ message }).finish()
    return readPastMessage(bytes, { chatJid: '1@lid', index: 0, since: 0, own: { phone: '1', lid: null } })
  },
  'the bytes of a history': (text) => {
    const slim = new SlimHistory()
    const conversations = Array.from(text.slice(0, text.length / 8), (id) => ({ id, name: id }))
    const bytes = proto.HistorySync.encode({
      syncType: proto.HistorySync.HistorySyncType.RECENT,
      conversations,
    }).finish()
    for (const part of new HistoryParser().read(Buffer.from(bytes))) slim.add(part)
    return slim.bytes()
  },
  'an event before it is stored': (text) => cleaned({ type: 'text', text }),
  'the ids of a receipt': (text) =>
    receiptsOf(
      { tag: 'receipt', attrs: { id: text, from: text, participant: text, type: text } },
      { own: { phone: '1', lid: null }, now: () => 0 },
    ),
  'an id and a push name': (text) => [cleanId(text), cleanName(text)],
  'the page with the client version': (text) => [
    findRevision(text),
    findRevision(`"client_revision":${text}`.slice(0, 30).repeat(text.length / 30)),
  ],
  'a group': (text) => readGroup(groupAnswer(text)),
  'the results of a change of members': (text) => memberResults([text, `${text}@lid`], [participant(text)]),
  'an address': (text) => [parseChat(text), phoneVariants(text), chatOfSourceId(text)],
  'the address of a picture': (text) => isOurs(text, { thumbnail: null, fileName: 'a.jpg' }),
  'the members of a group': (text) => writeMemberList([{ ...person(text), role: 'member' }], 'en', 1000),
  // From Chatwoot: messages, contacts, files, answers.
  'a message of an agent': markdownToText,
  'the mentions of an agent': (text) => mentionMembers(text, new Map([['5511999', { phone: '5511999', lid: null }]])),
  'a callback': (text) => readCallback(callback(text)),
  'the choices of a callback': (text) =>
    readCallback({ ...callback('x'), content_attributes: { items: manyCards(text) } }),
  'the fields of a callback': (text) =>
    readCallback({
      ...{ ...callback('x'), content_type: 'form' },
      content_attributes: { items: [{ label: text, options: text.match(/[^]{1,20}/g) }] },
    }),
  'the callback of a survey': (text) =>
    readCallback({
      ...{ ...callback(text), content_type: 'input_csat' },
      conversation: { messages: [{ id: 1, content: text.replaceAll(' ', '/survey/responses/') }] },
    }),
  'the time zone of an inbox': (text) => pastTimeFormat(text, 'en')(0),
  'the link of a survey': (text) => readSurveyLink({ uuid: text, meta: { sender: { thumbnail: text } } }, 'https://x'),
  'the length of a message': (text) => unsendable({ content: text, attachments: [], lacksFile: false }),
  'the fingerprint of a message': (text) =>
    new Fingerprints([]).of({ content: text, attachments: [{ fileName: text, size: 1 }] }),
  'a preview': previewOf,
  'a recipient': (text) => recipientChat({ ...noText, identifier: text, phone: text, sourceId: text }),
  'the name of a downloaded file': (text) => nameOfDownload(text, new URL('https://helpdesk.example/')),
  'the header of a downloaded file': (text) =>
    nameOfDownload(`attachment; filename=${text}; filename*=utf-8${text}`, new URL('https://helpdesk.example/')),
  'the webhook address of a helpdesk inbox': (text) => checkInbox(inboxWith(`https://x.example/${text}`)),
  'the reason of a failure': (text) => callbackFailureOf({ isFailed: true, isToCustomer: true, error: text }),
  'the translation of a reason': (text) =>
    ['the message was not sent: ', ', through the proxy x', '; part 1 of 2: x'].map((repeated) =>
      translateReason(`${text}${repeated.repeat(text.length / 20)}`, 'es'),
    ),
  'a refusal': (text) => explainAnswer(asked, refusal(text) as never, 0),
  // To Chatwoot.
  'whether a text fits': (text) => chatwootLimits.fits(text, 'outgoing'),
  'a posted message': (text) =>
    encodeMessage({
      type: 'outgoing',
      content: text,
      files: [],
      sourceId: null,
      inReplyTo: null,
      isEcho: false,
      private: false,
    } as never),
  'the fields of a contact': (text) => contactFields({ name: text, phone: text, identifier: text }),
  // From HTTP, and into the log.
  'the proxy of an instance': (text) => [
    parseNetworkProxy(`http://${text}@proxy`),
    parseNetworkProxy(`socks5://${text}`),
    parseNetworkProxy(text),
  ],
  'the depth of a body': (text) => {
    refuseDeepNesting(JSON.stringify(text))
  },
  'a person in a request': readMemberAddress,
  'a form': (text) => {
    const name = `Content-Disposition: form-data; ${text}; name=picture; filename=${text}`
    const form = Buffer.from(`--x\r\n${name}\r\n\r\n${text}\r\n--x--\r\n`)
    try {
      readFormFile(form, `multipart/form-data; ${text}; boundary=x`, 'picture')
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error
    }
  },
  'the cookies of a request': (text) => readSessionCookies(`causeway_session=${text}`),
  'the id of the last event': (text) =>
    new EventRing('a', 500).after(text) ?? new EventRing('a', 500).after(`a-${text}`),
  'the value of a session cookie': (text) => sessions.parse(`v1.1.${text}`),
  'the origin and the host of a request': (text) =>
    findOtherOrigin({ method: 'GET', protocol: 'http', host: text, headers: { origin: `http://${text}` } }),
  'the address of a client': (text) => new SignInTries(systemClock).waitOf(text),
  'the time of a callback': (text) => sentAt({ 'x-chatwoot-timestamp': text }),
  'a line of the log': (text) => {
    silent.info({ text, deep: { text, err: new Error(text) } }, 'a line')
  },
  'the webhook address of an inbox': (text) => {
    parseWebhookAddress(text)
    parseWebhookAddress(`https://a/${text}/api/instances/a/webhook`)
    return shownAddress(`https://a/${text}`)
  },
}

describe('work on foreign text takes time in proportion to the length of the text', () => {
  for (const [what, read] of Object.entries(readers)) {
    test(what, () => {
      for (const attack of knownAttacks) check(read, attack)
      fc.assert(
        fc.property(hostileTexts, (attack) => {
          check(read, attack)
        }),
        { numRuns: Number(process.env.RUNS ?? 8), endOnFailure: true },
      )
    })
  }
})

test('a function that compares each character with all earlier ones is noticed', () => {
  const quadratic = (text: string) => {
    let same = 0
    for (let at = 0; at < text.length; at++) {
      for (let before = 0; before < at; before++) if (text.charCodeAt(before) === text.charCodeAt(at)) same++
    }
    return same
  }
  assert.throws(() => {
    assertLinear(quadratic, (length) => 'a'.repeat(length), 'quadratic')
  }, /times\) for twice the length/)
})

test('an expression that tries each beginning of a run is noticed', () => {
  const work = (text: string) => text.replace(/;+$/, '')
  assert.throws(() => {
    assertLinear(work, (length) => `${';'.repeat(length)}x`, 'run')
  }, /times\) for twice the length/)
})

function check(read: (text: string) => unknown, attack: HostileText): void {
  assertLinear(read, (length) => writeHostile(attack, length), JSON.stringify(attack))
}
