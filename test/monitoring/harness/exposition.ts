// Reads the text format of Prometheus: the type of each metric, and the labels of each series.

export type Exposition = {
  /** By the name after `# TYPE`. */
  types: Map<string, string>
  /** By the name of the series: a histogram has those with _bucket, _sum and _count. */
  labels: Map<string, Set<string>>
  /** Each label with its values. */
  values: Map<string, Set<string>>
}

const seriesForm = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? \S+$/
const labelForm = /([A-Za-z_]\w*)="((?:\\.|[^"\\])*)"/g

export function readExposition(text: string): Exposition {
  const read: Exposition = { types: new Map(), labels: new Map(), values: new Map() }
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (typed !== undefined && type !== undefined) read.types.set(typed, type)
    const [, series, labels = ''] = seriesForm.exec(line) ?? []
    if (series === undefined) continue
    const own = setOf(read.labels, series)
    for (const [, label = '', value = ''] of labels.matchAll(labelForm)) {
      own.add(label)
      setOf(read.values, `${series} ${label}`).add(value)
    }
  }
  return read
}

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
  const found = sets.get(key) ?? new Set()
  sets.set(key, found)
  return found
}
