// Reads the command line of the mutation run, and refuses numbers and lines that it cannot read.

import { parseArgs } from 'node:util'

/** `only` names single lines; their mutants are tried instead of a sample. */
export type Options = {
  paths: string[]
  count: number
  seed: number
  isList: boolean
  only: { file: string; line: number }[]
}

const allRooms = ['bridge', 'storage', 'network']

export function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  })
  const only = values.only.map(lineOf)
  if (only.length > 0 && positionals.length > 0) throw new Error('Name rooms, or lines with --only, but not both.')
  return {
    paths: (positionals.length > 0 ? positionals : allRooms).map(pathInSrc),
    count: numberOf('--count', values.count, 1),
    seed: numberOf('--seed', values.seed, 0),
    isList: values.list,
    only,
  }
}

function numberOf(name: string, text: string, least: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least) return number
  throw new Error(`${name} takes a whole number from ${least} up, not "${text}".`)
}

function lineOf(text: string): { file: string; line: number } {
  const [, file, line] = /^(.+\.ts):(\d+)$/.exec(text) ?? []
  if (file === undefined || line === undefined) throw new Error(`--only takes <file>:<line>, not "${text}".`)
  return { file: pathInSrc(file), line: Number(line) }
}

/** `src/bridge/` and `bridge` both mean `src/bridge`. */
function pathInSrc(path: string): string {
  return `src/${path.replace(/^(\.\/)?src\//, '').replace(/\/+$/, '')}`
}
