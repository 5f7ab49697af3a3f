// Finds the mutants of a source file: small changes, each of which some test should notice.

import ts from 'typescript'
import { operators } from './operators.ts'

/** One change of one file. `inside`, `before` and `after` name the mutant also when lines move. */
export type Mutant = {
  file: string
  line: number
  /** The functions, classes and members around the change, and its number among equal changes there: `Lane.run (2)`. */
  inside: string
  kind: string
  /** The changed lines. */
  before: string
  after: string
  /** The whole file with the change. */
  text: string
}

export function findMutants(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const mutants: Mutant[] = []
  const numbered = numberEqual()
  const visit = (node: ts.Node): void => {
    if (isLeftOut(node)) return
    for (const operator of operators) {
      for (const { kind, node: replaced, after } of operator(node)) {
        const [start, end] = [replaced.getStart(source), replaced.getEnd()]
        const line = source.getLineAndCharacterOfPosition(start).line + 1
        const lines = changedLines(text, start, end, after)
        const inside = numbered(namesAround(replaced).join('.'), lines)
        mutants.push({ file, line, inside, kind, ...lines })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants
}

/** From the outermost to the innermost. */
function namesAround(node: ts.Node | undefined): string[] {
  if (!node) return []
  const name = nameOf(node)
  return name === undefined ? namesAround(node.parent) : [...namesAround(node.parent), name]
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  const isHolder = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)
  const holdsFunction = isHolder && node.initializer !== undefined && ts.isFunctionLike(node.initializer)
  const isNamed = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isClassElement(node)
  return isNamed || holdsFunction ? node.name?.getText() : undefined
}

/** The first change at a place keeps the name of the place. Equal ones after it get a number. */
function numberEqual() {
  const counts = new Map<string, number>()
  return (place: string, { before, after }: Pick<Mutant, 'before' | 'after'>): string => {
    const key = JSON.stringify([place, before, after])
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count === 1 ? place : `${place} (${count})`
  }
}

/** Types and imports have no behaviour. Logs and the sentences of errors are for people: no test reads each of them. */
function isLeftOut(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isExportDeclaration(node) || ts.isInterfaceDeclaration(node)) return true
  if (ts.isExpressionStatement(node)) return isLeftOut(node.expression)
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith('Error')
  return ts.isCallExpression(node) && /(^|\.)log\.[a-z]+$/.test(node.expression.getText())
}

function changedLines(text: string, start: number, end: number, after: string) {
  const first = text.lastIndexOf('\n', start - 1) + 1
  const newline = text.indexOf('\n', end)
  const last = newline === -1 ? text.length : newline
  return {
    before: text.slice(first, last).trim(),
    after: (text.slice(first, start) + after + text.slice(end, last)).trim(),
    text: text.slice(0, start) + after + text.slice(end),
  }
}
