// The part of Eleventy that the site uses. The package has no types.

declare module '@11ty/eleventy' {
  import type MarkdownIt from 'markdown-it'

  export type EleventyConfig = {
    addFilter(name: string, filter: (value: never) => unknown): void
    addGlobalData(name: string, data: unknown): void
    addTemplate(path: string, content: string, data: Readonly<Record<string, unknown>>): void
    amendLibrary(engine: 'md', amend: (library: MarkdownIt) => void): void
    setLayoutsDirectory(directory: string): void
    setUseGitIgnore(enabled: boolean): void
  }

  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { config: (config: EleventyConfig) => void; quietMode: boolean },
    )
    write(): Promise<unknown>
  }
}
