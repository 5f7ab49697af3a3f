// Numbers the choices of a message, and names each of them for the answer.

/** A customer names a choice by at most three digits. */
const mostChoices = 999
/** How much of the title of a card or of a field stands before a choice. */
const groupLength = 100

export class NumberedChoices {
  readonly #choices: { title: string; group: string }[] = []

  /** The line of the choice, with its number. `group` is the card or the field that it belongs to. */
  add(title: string, group = '', shown = title): string {
    if (title === '') return ''
    this.#choices.push({ title, group })
    return `${this.#choices.length}. ${shown}`
  }

  /** In the order of their numbers. Choices with the same title are told apart by their group. */
  get titles(): string[] {
    const known = this.#choices.slice(0, mostChoices)
    const sameTitle = Map.groupBy(known, ({ title }) => title.toLowerCase())
    return known.map(({ title, group }) => {
      const isAlone = sameTitle.get(title.toLowerCase())?.length === 1
      return isAlone || group === '' ? title : `${beginningOf(group)}: ${title}`
    })
  }
}

/** Chatwoot cannot store half of a character. */
function beginningOf(group: string): string {
  return group.slice(0, groupLength).replace(/[\uD800-\uDBFF]$/, '')
}
