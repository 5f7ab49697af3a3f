// Reads from the sources which sentences the checks of the set-up can say about something that is not in order.

import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** `…` stands in a sentence for a part that differs. */
export type CheckSentence = { check: string; sentence: string }

const makers = ['broken', 'advised']
const gap = '…'

export function checkSentences(): CheckSentence[] {
  const files = globSync('src/setup/checks/*.ts').filter((file) => !/\.test\.ts$|finding\.ts$/.test(file))
  return files.flatMap((file) => sentencesIn(readFileSync(file, 'utf8')))
}

/** The calls that make a finding: the name of the check is their first argument, the sentence the second one. */
export function sentencesIn(text: string): CheckSentence[] {
  const found: CheckSentence[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && makers.includes(node.expression.text)) {
      const [name, sentence] = node.arguments
      if (!name || !sentence) throw new Error(`a finding without a sentence: ${node.getText()}`)
      const checks = textsOf(name)
      found.push(...textsOf(sentence).flatMap((each) => checks.map((check) => ({ check, sentence: each }))))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('checks.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

/** All texts that an expression can have. */
function textsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)]
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => gap + literal.text).join('')]
  }
  const declared = ts.isIdentifier(node) ? declarationOf(node) : undefined
  return declared ? textsOf(declared) : [gap]
}

/** The value of the constant in the nearest block around its use. */
function declarationOf(use: ts.Identifier): ts.Expression | undefined {
  let around: ts.Node | undefined = use.parent
  for (; around !== undefined; around = around.parent as ts.Node | undefined) {
    if (!ts.isBlock(around) && !ts.isSourceFile(around)) continue
    const lists = around.statements
      .filter(ts.isVariableStatement)
      .flatMap((each) => [...each.declarationList.declarations])
    const found = lists.find(({ name }) => ts.isIdentifier(name) && name.text === use.text)
    if (found) return found.initializer
  }
  return undefined
}
