// Says which version a release gets.

const form = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/

/** `wanted` is patch, minor, major or a version. Throws unless the result is higher than `current`. */
export function nextVersion(current: string, wanted: string): string {
  const [major, minor, patch] = numbersOf(current)
  if (wanted === 'major') return `${major + 1}.0.0`
  if (wanted === 'minor') return `${major}.${minor + 1}.0`
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`
  if (!form.test(wanted))
    throw new Error(`"${wanted}" is no version: name patch, minor, major or three numbers as 1.2.3`)
  if (!isHigher(numbersOf(wanted), [major, minor, patch])) {
    throw new Error(`${wanted} is not higher than ${current}, the version of now`)
  }
  return wanted
}

type Numbers = [major: number, minor: number, patch: number]

function numbersOf(version: string): Numbers {
  const found = form.exec(version)
  if (!found) throw new Error(`package.json has the version "${version}", which is not three numbers`)
  return [Number(found[1]), Number(found[2]), Number(found[3])]
}

function isHigher(one: Numbers, other: Numbers): boolean {
  const differing = one.findIndex((number, index) => number !== other[index])
  return differing >= 0 && (one[differing] ?? 0) > (other[differing] ?? 0)
}
