// A section as the search finds it.

export type Entry = { address: string; page: string; heading: string; text: string }
