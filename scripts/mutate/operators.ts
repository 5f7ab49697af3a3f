// The changes that the mutation run makes in the code: what each kind of syntax is replaced with.

import ts from 'typescript'

/** `node` is replaced with `after`. */
type Change = { kind: string; node: ts.Node; after: string }

type Operator = (node: ts.Node) => Change[]

const { SyntaxKind } = ts
const swaps = new Map<ts.SyntaxKind, string>([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
  [SyntaxKind.MinusToken, '+'],
])
/** Parts of a query that narrow it, order it or make it safe to repeat. */
const clauses = new Set(['where', 'whereRef', 'orderBy', 'limit', 'on', 'onRef', 'onConflict', 'distinct'])

export const operators: readonly Operator[] = [
  negateCondition,
  swapOperator,
  removeFallback,
  removeCall,
  removeAwait,
  removeClause,
  removeElement,
  changeConstant,
  emptyBody,
  swapBound,
]

function negateCondition(node: ts.Node): Change[] {
  const isLoop = ts.isWhileStatement(node) || ts.isForStatement(node)
  const condition = ts.isIfStatement(node) || ts.isWhileStatement(node) ? node.expression : conditionIn(node)
  // A loop whose condition is `true` never ends: that says nothing.
  if (!condition || (isLoop && condition.kind === SyntaxKind.TrueKeyword)) return []
  return [{ kind: 'negated condition', node: condition, after: `!(${condition.getText()})` }]
}

function conditionIn(node: ts.Node): ts.Expression | undefined {
  return ts.isConditionalExpression(node) || ts.isForStatement(node) ? node.condition : undefined
}

function swapOperator(node: ts.Node): Change[] {
  const after = ts.isBinaryExpression(node) ? swaps.get(node.operatorToken.kind) : undefined
  if (!ts.isBinaryExpression(node) || after === undefined) return []
  return [{ kind: 'swapped operator', node: node.operatorToken, after }]
}

function removeFallback(node: ts.Node): Change[] {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.QuestionQuestionToken) return []
  return [{ kind: 'removed fallback', node, after: node.left.getText() }]
}

function removeCall(node: ts.Node): Change[] {
  if (!ts.isExpressionStatement(node)) return []
  const { expression } = node
  const called =
    ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression
  const isCall = ts.isCallExpression(called) && called.expression.kind !== SyntaxKind.SuperKeyword
  return isCall ? [{ kind: 'removed call', node, after: ';' }] : []
}

/** Only where the result is not used: elsewhere every test notices that a promise is no value. */
function removeAwait(node: ts.Node): Change[] {
  if (!ts.isExpressionStatement(node) || !ts.isAwaitExpression(node.expression)) return []
  return [{ kind: 'removed await', node: node.expression, after: `void (${node.expression.expression.getText()})` }]
}

function removeClause(node: ts.Node): Change[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name, expression } = node.expression
  return clauses.has(name.text) ? [{ kind: 'removed clause', node, after: expression.getText() }] : []
}

/** The last element of a list, and everything that is spread. */
function removeElement(node: ts.Node): Change[] {
  if (ts.isSpreadAssignment(node)) return [{ kind: 'removed spread', node, after: '...{}' }]
  if (ts.isSpreadElement(node)) return [{ kind: 'removed spread', node, after: '...[]' }]
  const last = ts.isArrayLiteralExpression(node) ? node.elements.at(-1) : undefined
  return last && !ts.isSpreadElement(last) ? [{ kind: 'removed element', node: last, after: '' }] : []
}

function changeConstant(node: ts.Node): Change[] {
  const kind = 'changed constant'
  if (node.kind === SyntaxKind.TrueKeyword) return [{ kind, node, after: 'false' }]
  if (node.kind === SyntaxKind.FalseKeyword) return [{ kind, node, after: 'true' }]
  if (ts.isNumericLiteral(node)) {
    return [{ kind, node, after: Number(node.text) === 0 ? '1' : String(Number(node.text) * 10) }]
  }
  // The strings of a call are mostly names of columns and events: without the name the call fails at once.
  const isPlain = ts.isStringLiteral(node) && !ts.isCallExpression(node.parent) && !ts.isNewExpression(node.parent)
  return isPlain && node.text !== '' ? [{ kind, node, after: `''` }] : []
}

/** A function that returns nothing returns at once. */
function emptyBody(node: ts.Node): Change[] {
  if (!ts.isFunctionLike(node) || !('body' in node)) return []
  const { body } = node
  if (!body || !ts.isBlock(body) || body.statements.length < 2 || returnsValue(body)) return []
  return [{ kind: 'emptied body', node: body, after: '{}' }]
}

function returnsValue(node: ts.Node): boolean {
  if (ts.isReturnStatement(node)) return node.expression !== undefined
  if (ts.isFunctionLike(node)) return false
  return ts.forEachChild(node, returnsValue) ?? false
}

function swapBound(node: ts.Node): Change[] {
  if (!ts.isPropertyAccessExpression(node) || node.expression.getText() !== 'Math') return []
  const other = { min: 'Math.max', max: 'Math.min' }[node.name.text]
  return other === undefined ? [] : [{ kind: 'swapped bound', node, after: other }]
}
