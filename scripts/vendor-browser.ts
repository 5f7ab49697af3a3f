// The libraries of the dashboard as the browser loads them: the published modules, with relative imports and their licences.

import { readFileSync } from 'node:fs'

const read = (name: string): string =>
  readFileSync(new URL(`../node_modules/${name}`, import.meta.url), 'utf8').replaceAll('\r\n', '\n')

/** The module without its source map, under a comment that says what it is. Imports of Preact become relative. */
function vendored(packageName: string, module: string): string {
  const { version, license } = JSON.parse(read(`${packageName}/package.json`)) as { version: string; license: string }
  const code = read(module)
    .replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '')
    .replaceAll(/from"preact"/g, 'from"./preact.js"')
  return `/* ${packageName} ${version}, ${license}. Copied by npm run generate; do not edit. */\n${code}\n`
}

export const vendoredFiles: Record<string, () => string> = {
  'static/app/vendor/preact.js': () => vendored('preact', 'preact/dist/preact.mjs'),
  'static/app/vendor/hooks.js': () => vendored('preact', 'preact/hooks/dist/hooks.mjs'),
  'static/app/vendor/htm.js': () => vendored('htm', 'htm/dist/htm.module.js'),
  'static/app/vendor/LICENSES.txt': () =>
    ['preact', 'htm'].map((name) => `${name}\n\n${read(`${name}/LICENSE`).trim()}\n`).join('\n'),
}
