// Reads contact cards as phones write them (vCard 2.1 and 3.0).

import type { ContactCard } from '../../core/message.ts'
import { textOf } from './values.ts'

/** The rest of a longer card is ignored. */
const longest = 100_000

export function readCard(displayName: string | null | undefined, vcard: string | null | undefined): ContactCard {
  const fields = linesOf((vcard ?? '').slice(0, longest)).map(fieldOf)
  const first = (name: string) => fields.find((field) => field.name === name)?.value
  const phones = fields.filter(({ name }) => name === 'TEL').map(phoneOf)
  return {
    name: textOf(displayName) ?? textOf(first('FN')) ?? textOf(first('N')?.replace(/;+/g, ' ').trim()) ?? '',
    phones: [...new Set(phones.filter((phone) => phone !== ''))],
    organisation: textOf(
      first('ORG')
        ?.replace(/(?<!;);+$/, '')
        .replaceAll(';', ', '),
    ),
  }
}

/** A long line continues on the next line, after a blank. */
function linesOf(vcard: string): string[] {
  return vcard
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .filter((line) => line.includes(':'))
}

type Field = { name: string; parameters: string[]; value: string }

function fieldOf(line: string): Field {
  const colon = line.indexOf(':')
  const [name = '', ...parameters] = line.slice(0, colon).split(';')
  const value = line.slice(colon + 1).replace(/\\([,;\\])/g, '$1')
  // iPhones put fields into groups, e.g. item1.TEL.
  return { name: name.replace(/^.*\./, '').toUpperCase(), parameters, value: value.trim() }
}

/** With a plus if the card names the number's WhatsApp id. */
function phoneOf({ parameters, value }: Field): string {
  const known = parameters.find((one) => /^waid=\d+$/i.test(one))
  return known === undefined ? value : `+${known.slice('waid='.length)}`
}
