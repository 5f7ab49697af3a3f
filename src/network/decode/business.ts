// Decodes messages of businesses (buttons, lists, products) to readable text, with their picture if they have one.

import type { Content } from '../../core/message.ts'
import type { proto } from '../library/library.ts'
import { documentContent, imageContent, videoContent } from './media.ts'
import { lines, numberOf } from './values.ts'

type Header = Pick<proto.Message.IButtonsMessage, 'documentMessage' | 'imageMessage' | 'videoMessage'>

/** One button or row, on a line of its own. */
const item = (text: string | null | undefined) => (text ? `• ${text}` : null)

function readable(header: Header | null | undefined, text: string): Content {
  const { imageMessage, videoMessage, documentMessage } = header ?? {}
  if (imageMessage) return { ...imageContent(imageMessage), caption: text }
  if (videoMessage) return { ...videoContent(videoMessage), caption: text }
  if (documentMessage) return { ...documentContent(documentMessage), caption: text }
  return { type: 'text', text }
}

export function buttons(message: proto.Message.IButtonsMessage): Content {
  const labels = (message.buttons ?? []).map(({ buttonText }) => item(buttonText?.displayText))
  return readable(message, lines([message.text, message.contentText, message.footerText, ...labels]))
}

export function list(message: proto.Message.IListMessage): Content {
  const rows = (message.sections ?? []).flatMap(({ title, rows }) => [
    title,
    ...(rows ?? []).map((row) => item([row.title, row.description].filter(Boolean).join(': '))),
  ])
  return { type: 'text', text: lines([message.title, message.description, message.footerText, ...rows]) }
}

export function template(message: proto.Message.ITemplateMessage): Content {
  const { interactiveMessageTemplate, fourRowTemplate } = message
  if (interactiveMessageTemplate) return interactive(interactiveMessageTemplate)
  const filled = message.hydratedTemplate ?? message.hydratedFourRowTemplate
  if (!filled) return { type: 'text', text: structuredText(fourRowTemplate?.content) }
  const labels = (filled.hydratedButtons ?? []).map(({ quickReplyButton, urlButton, callButton }) =>
    item(
      quickReplyButton?.displayText ??
        (urlButton && joined(urlButton.displayText, urlButton.url)) ??
        (callButton && joined(callButton.displayText, callButton.phoneNumber)),
    ),
  )
  return readable(
    filled,
    lines([filled.hydratedTitleText, filled.hydratedContentText, filled.hydratedFooterText, ...labels]),
  )
}

export function interactive(message: proto.Message.IInteractiveMessage): Content {
  return readable(message.header, interactiveText(message, 0))
}

function interactiveText(message: proto.Message.IInteractiveMessage, depth: number): string {
  const { header, body, footer, nativeFlowMessage, carouselMessage } = message
  const labels = (nativeFlowMessage?.buttons ?? []).map(({ buttonParamsJson }) => item(labelOf(buttonParamsJson)))
  const cards = depth > 2 ? [] : (carouselMessage?.cards ?? []).map((card) => interactiveText(card, depth + 1))
  return lines([header?.title, header?.subtitle, body?.text, footer?.text, ...labels, ...cards])
}

function labelOf(json: string | null | undefined): string | null {
  try {
    const { display_text, url } = JSON.parse(json ?? '{}') as { display_text?: unknown; url?: unknown }
    const words = [display_text, url].filter((word) => typeof word === 'string')
    return joined(...words)
  } catch {
    return null
  }
}

export function structuredText(message: proto.Message.IHighlyStructuredMessage | null | undefined): string {
  const { hydratedTemplate, hydratedFourRowTemplate } = message?.hydratedHsm ?? {}
  const filled = hydratedTemplate ?? hydratedFourRowTemplate
  return lines([filled?.hydratedContentText, ...(message?.params ?? [])])
}

export function order(message: proto.Message.IOrderMessage): Content {
  const total = price(message.totalAmount1000, message.totalCurrencyCode)
  const count = message.itemCount == null ? null : `${message.itemCount} ×`
  return { type: 'text', text: lines([message.orderTitle, joined(count, total), message.message]) }
}

export function product(message: proto.Message.IProductMessage): Content {
  const { product: shown, body, footer } = message
  const cost = price(shown?.priceAmount1000, shown?.currencyCode)
  const text = lines([shown?.title, cost, shown?.description, shown?.url, body, footer])
  return readable({ imageMessage: shown?.productImage ?? null }, text)
}

export function invoice({ note, attachmentMimetype }: proto.Message.IInvoiceMessage): Content {
  return { type: 'unsupported', name: 'invoiceMessage', text: lines([note, attachmentMimetype]) || null }
}

function price(thousandths: Parameters<typeof numberOf>[0], currency: string | null | undefined): string | null {
  const amount = numberOf(thousandths)
  return amount === null ? null : joined(currency, (amount / 1000).toFixed(2))
}

function joined(...words: (string | null | undefined)[]): string {
  return words.filter(Boolean).join(' ')
}
