// Writes HTML from templates. Every value is escaped, except HTML that a template of ours wrote.

export type Html = { text: string }

export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string') return escape(value)
    return 'text' in value ? value.text : value.map(({ text }) => text).join('')
  })
  return { text: String.raw({ raw: parts }, ...shown) }
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
