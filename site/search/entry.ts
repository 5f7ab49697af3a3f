// A section as the search finds it.

export type Entry = { id: number; address: string; page: string; heading: string; text: string }
