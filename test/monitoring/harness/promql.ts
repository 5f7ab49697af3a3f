// Reads which metrics and labels a PromQL expression names. Throws for what it does not know: a function with a wrong name
// must not pass.

type Selector = { metric: string; matchers: { label: string; value: string }[] }
export type NamedInQuery = { selectors: Selector[]; groupings: string[] }

const kinds = ['name', 'text', 'number', 'sign'] as const
type Token = { kind: (typeof kinds)[number]; text: string }

const functions = new Set([
  ...['sum', 'max', 'min', 'avg', 'count', 'topk', 'bottomk'],
  ...['rate', 'increase', 'histogram_quantile', 'vector', 'time', 'absent'],
])
const groupingWords = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])
const operatorWords = new Set(['and', 'or', 'unless', 'bool', 'offset'])

const tokenForm =
  /\s+|(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<number>\d[\w.]*)|(?<name>[A-Za-z_:][\w:]*)|(?<sign>=~|!~|!=|==|>=|<=|[-+*/%^=<>(){}[\],@])/y

function tokensOf(query: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < query.length; at = tokenForm.lastIndex) {
    tokenForm.lastIndex = at
    const { groups } = tokenForm.exec(query) ?? fail(`no PromQL at ${JSON.stringify(query.slice(at))}`)
    for (const kind of kinds) {
      const text = groups?.[kind]
      if (text !== undefined) tokens.push({ kind, text })
    }
  }
  return tokens
}

export function readQuery(query: string): NamedInQuery {
  const tokens = tokensOf(query)
  const named: NamedInQuery = { selectors: [], groupings: [] }
  while (tokens.length > 0) readNext(tokens, named)
  return named
}

function readNext(tokens: Token[], { selectors, groupings }: NamedInQuery): void {
  const token = take(tokens)
  if (token.text === '{') fail('a selector without the name of a metric')
  if (token.kind !== 'name' || operatorWords.has(token.text)) return
  if (groupingWords.has(token.text)) {
    if (isNext(tokens, '(')) groupings.push(...takeLabels(tokens))
  } else if (functions.has(token.text)) {
    if (!isNext(tokens, '(') && !groupingWords.has(tokens[0]?.text ?? '')) fail(`${token.text} is no metric`)
  } else if (isNext(tokens, '(')) {
    fail(`${token.text} is no known function`)
  } else {
    selectors.push({ metric: token.text, matchers: isNext(tokens, '{') ? takeMatchers(tokens) : [] })
  }
}

/** `(a, b)` */
function takeLabels(tokens: Token[]): string[] {
  const labels: string[] = []
  expect(tokens, '(')
  while (!isNext(tokens, ')')) {
    labels.push(take(tokens, 'name').text)
    if (!isNext(tokens, ')')) expect(tokens, ',')
  }
  expect(tokens, ')')
  return labels
}

/** `{a="x", b!~"y|z"}` */
function takeMatchers(tokens: Token[]): Selector['matchers'] {
  const matchers: Selector['matchers'] = []
  expect(tokens, '{')
  while (!isNext(tokens, '}')) {
    const label = take(tokens, 'name').text
    const { text: sign } = take(tokens, 'sign')
    if (!['=', '!=', '=~', '!~'].includes(sign)) fail(`${sign} compares no label`)
    matchers.push({ label, value: take(tokens, 'text').text.slice(1, -1) })
    if (!isNext(tokens, '}')) expect(tokens, ',')
  }
  expect(tokens, '}')
  return matchers
}

function isNext(tokens: readonly Token[], text: string): boolean {
  return tokens[0]?.kind === 'sign' && tokens[0].text === text
}

function expect(tokens: Token[], text: string): void {
  if (!isNext(tokens, text)) fail(`${JSON.stringify(text)} is missing before ${JSON.stringify(tokens[0]?.text)}`)
  tokens.shift()
}

function take(tokens: Token[], kind?: Token['kind']): Token {
  const token = tokens.shift() ?? fail('the expression ends too early')
  if (kind !== undefined && token.kind !== kind) fail(`${JSON.stringify(token.text)} is no ${kind}`)
  return token
}

function fail(reason: string): never {
  throw new Error(reason)
}
