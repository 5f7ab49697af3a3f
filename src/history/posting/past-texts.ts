// The sentences that an import writes into a conversation, in every language of SERVICE_LOCALE.

import type { Locale } from '../../bridge/inbound/compose/texts.ts'

type PastTexts = {
  /** Stands for a file that is not imported. `what` names its kind, `name` is its file name. */
  file: (what: string, name: string | null) => string
  /** A file was to be imported and could not be fetched. */
  fileMissing: (what: string) => string
  /** The private note with which an imported conversation begins. `since` is when its oldest message was written. */
  note: (since: string) => string
}

const en: PastTexts = {
  file: (what, name) => `📎 ${named(what, name)} (only on the phone)`,
  fileMissing: (what) => `⚠️ The ${what} could not be fetched. It can be seen on the phone.`,
  note: (since) =>
    `🕘 These messages were imported from the history of the phone. The oldest is from ${since}. Customers were not notified, and automatic answers to imported messages are not sent.`,
}

const es: PastTexts = {
  file: (what, name) => `📎 ${named(what, name)} (solo en el teléfono)`,
  fileMissing: (what) => `⚠️ No se pudo obtener el archivo (${what}). Se puede ver en el teléfono.`,
  note: (since) =>
    `🕘 Estos mensajes se importaron del historial del teléfono. El más antiguo es del ${since}. No se avisó a los clientes, y las respuestas automáticas a mensajes importados no se envían.`,
}

const pt: PastTexts = {
  file: (what, name) => `📎 ${named(what, name)} (só no telefone)`,
  fileMissing: (what) => `⚠️ O arquivo (${what}) não pôde ser obtido. Pode ser visto no telefone.`,
  note: (since) =>
    `🕘 Estas mensagens foram importadas do histórico do telefone. A mais antiga é de ${since}. Os clientes não foram avisados, e respostas automáticas a mensagens importadas não são enviadas.`,
}

export const pastTextsOf: Record<Locale, PastTexts> = { en, es, pt }

function named(what: string, name: string | null): string {
  return name === null ? what : `${what}: ${name}`
}
