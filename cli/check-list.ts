// The result of a check as text: a mark, what was found, and what to do.

/** advice: messages flow, but something is missing · untested: the sentence says why */
const marks = { ok: '✓', advice: '!', broken: '✗', untested: '–' } as const

type Result = keyof typeof marks
export type Finding = { name: string; result: Result; sentence: string; cure: string | null }
export type CheckResult = { ok: boolean; checks: readonly Finding[] }

/** Trusts nothing: the answer may come from another version of the service. */
export function readCheck(body: Record<string, unknown>): CheckResult {
  const list: readonly unknown[] = Array.isArray(body['checks']) ? body['checks'] : []
  return { ok: body['ok'] === true, checks: list.map(readFinding) }
}

function readFinding(value: unknown): Finding {
  const { name, ok, result, sentence, cure } = (value ?? {}) as Record<string, unknown>
  return {
    name: typeof name === 'string' ? harmless(name) : 'unknown',
    result: isResult(result) ? result : ok === true ? 'ok' : 'broken',
    sentence: typeof sentence === 'string' ? harmless(sentence) : '',
    cure: typeof cure === 'string' && cure !== '' ? harmless(cure) : null,
  }
}

function isResult(value: unknown): value is Result {
  return typeof value === 'string' && Object.hasOwn(marks, value)
}

/** A sentence may quote the helpdesk. Control characters could change what the terminal shows. */
function harmless(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

/** One line for each finding. A finding with a cure is followed by the cure. */
export function formatFindings(checks: readonly Finding[]): string[] {
  return checks.flatMap(({ name, result, sentence, cure }) => {
    const line = `${marks[result]} ${name}: ${sentence}`
    return result === 'ok' || cure === null ? [line] : [line, `    → ${cure}`]
  })
}

/** All instances, one after the other. What is found alike at every one of several instances is printed once. */
export function formatAll(results: ReadonlyMap<string, CheckResult>): string[] {
  const shared = results.size > 1 ? sharedFindings([...results.values()]) : []
  const keys = new Set(shared.map(keyOf))
  const blocks = [...results].map(([name, { checks }]) => [
    '',
    name,
    ...formatFindings(checks.filter((finding) => !keys.has(keyOf(finding)))),
  ])
  const common = shared.length > 0 ? ['every instance', ...formatFindings(shared)] : []
  const lines = [...common, ...blocks.flat()]
  return lines[0] === '' ? lines.slice(1) : lines
}

function sharedFindings([first, ...others]: readonly CheckResult[]): Finding[] {
  const known = others.map(({ checks }) => new Set(checks.map(keyOf)))
  return (first?.checks ?? []).filter((finding) => known.every((keys) => keys.has(keyOf(finding))))
}

function keyOf({ name, result, sentence, cure }: Finding): string {
  return JSON.stringify([name, result, sentence, cure])
}
