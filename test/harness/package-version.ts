// The version that the service names: a release changes it.

import { readFileSync } from 'node:fs'

const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

export const { version: packageVersion } = JSON.parse(file) as { version: string }
