// Finds the mutants of a source file: small changes, each of which some test should notice.

import ts from 'typescript'
import { operators } from './operators.ts'

/** One change of one file. `before` and `after` are the changed lines, and name the mutant also when lines move. */
export type Mutant = {
  file: string
  line: number
  kind: string
  before: string
  after: string
  /** The whole file with the change. */
  text: string
}

export function findMutants(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (isLeftOut(node)) return
    for (const operator of operators) {
      for (const { kind, node: replaced, after } of operator(node)) {
        const [start, end] = [replaced.getStart(source), replaced.getEnd()]
        const line = source.getLineAndCharacterOfPosition(start).line + 1
        mutants.push({ file, line, kind, ...changedLines(text, start, end, after) })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants
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
