// Makes texts that are meant to take long: repeated pieces from alphabets that parsers stumble over.

import fc from 'fast-check'

/** One or two pieces, repeated up to the wanted length between a beginning and an end. */
export type HostileText = { shape: Shape; before: string; piece: string; other: string; after: string }
type Shape = 'repeated' | 'halves' | 'blocks'

const characters = 'a5.,*_~[](){}<>`@+\\/:;|#&!?=%-"\'$ \n\t\r\u00a0\u00e9\u00b7\u200b\u200e\u2028\ue000\ud83d\udc4d\0'
const words = ['👍', '**', '~~', '```', '](', '![', '\n\n', '> ', '- ', '1. ', '\r\n', '\\n', '://', '{{', '{%']
const starts = ['https://', 'www.', 'mailto:', '<http:', '@5511999', 'filename=', 'TEL;waid=5:', 'N:', 'bearer ', '%41']
const piece = fc.constantFrom(...characters.split(''), ...words, ...starts)
const pieces = (from: number, to: number) =>
  fc.array(piece, { minLength: from, maxLength: to }).map((each) => each.join(''))

export const hostileTexts: fc.Arbitrary<HostileText> = fc.record({
  shape: fc.constantFrom<Shape>('repeated', 'repeated', 'halves', 'blocks'),
  before: pieces(0, 3),
  piece: pieces(1, 4),
  other: pieces(1, 3),
  after: pieces(0, 3),
})

const repeated = (before: string, one: string, after: string): HostileText => ({
  shape: 'repeated',
  before,
  piece: one,
  other: '',
  after,
})

/** Texts that once took long, and their relatives. */
export const knownAttacks: readonly HostileText[] = [
  repeated('', 'a.', '*'),
  repeated('', 'a.a@', '/'),
  repeated('', '\ue000', ''),
  repeated('', '[](x', ')'),
  repeated('', '[](()x', ')'),
  repeated('[](', '(', ')'),
  repeated('', ';', 'x'),
  repeated('', '/', 'x'),
  repeated('x', ' ', 'x'),
  repeated('x', '\t', 'x'),
  repeated('', '`', 'x'),
  repeated('', '<a:', '>'),
  repeated('', 'https://x.example/a_ *', ''),
  ...['[', '](', '[a](b "', '[`x` `', '******a', '*a_b~c', '*a ', 'a* *b', '(*"x"*) **', '***a', '_a ', '~~x '],
  ...['`a', '`a` *', '``` ```', '\\', '\\*', ' \n', '**a\n', '--', '....', '|\n--|\n', '1. a\n', '> a\n', '👍*'],
  ...['@55119', 'x.com/', '<https://'],
].map((attack) => (typeof attack === 'string' ? repeated('', attack, '') : attack))

/** A text of about this length. */
export function writeHostile({ shape, before, piece: one, other, after }: HostileText, length: number): string {
  switch (shape) {
    case 'repeated':
      return before + fill(one, length) + after
    case 'halves':
      return before + fill(one, length / 2) + fill(other, length / 2) + after
    case 'blocks':
      return before + fill(fill(one, Math.sqrt(length)) + other, length) + after
  }
}

function fill(text: string, length: number): string {
  return text.repeat(Math.max(1, Math.ceil(length / text.length)))
}
