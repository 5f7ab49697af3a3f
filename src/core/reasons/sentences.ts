// The form of the tables of sentences: a sentence that lacks a language does not compile.

export type Locale = 'en' | 'es' | 'pt'

/** A word in braces stands for a value. `{reason}` and `{cure}` stand for other sentences. */
export type Sentences = Readonly<Record<string, Readonly<Record<Locale, string>>>>
