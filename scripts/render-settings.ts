// Renders .env.example and docs/configuration.md from the table of settings.

import { format } from 'prettier'
import { settings } from '../src/config/settings.ts'
import type { Setting } from '../src/config/settings.ts'

const titles: Record<keyof typeof settings, string> = {
  http: 'HTTP',
  log: 'Logs',
  traces: 'Traces',
  storage: 'Storage',
  nodes: 'Several nodes',
  downstream: 'Helpdesk (Chatwoot)',
  inbound: 'Messages to the helpdesk',
  sync: 'Real-time sync',
  history: 'History',
  outbound: 'Messages to the network',
  lifecycle: 'Lifecycle webhooks',
  network: 'Network',
}

type Section = { title: string; rows: readonly Setting<unknown>[] }

function sections(): Section[] {
  return Object.entries(settings).map(([name, rows]) => ({
    title: titles[name as keyof typeof settings],
    rows: Object.values<Setting<unknown>>(rows),
  }))
}

export function renderEnvExample(): string {
  const blocks = sections().map(({ title, rows }) =>
    [
      `## ${title}`,
      ...rows.map((row) => `# ${row.doc}\n# Takes ${row.kind.takes}.\n#${row.name}=${quoted(row.standard)}`),
    ].join('\n\n'),
  )
  return (
    [
      '# Generated from src/config/settings.ts by npm run generate. Copy to .env and uncomment what you change.',
      ...blocks,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

export async function renderSettingsPage(): Promise<string> {
  const blocks = sections().map(({ title, rows }) => `## ${title}\n\n${table(rows)}`)
  const intro = `<!-- Generated from src/config/settings.ts by npm run generate. -->

# Configuration

Settings are environment variables; \`npm start\` also reads a \`.env\` file. An empty variable counts as absent. A value that is
not usable stops the start; the message names the variable, its value and the values it accepts.

Some settings can differ from instance to instance. Their rows name a field of \`POST /api/instances\` and
\`PATCH /api/instances/:name\`. The field takes a boolean, an array of texts, or a text. Null means that the variable counts.`
  return format(`${[intro, ...blocks].join('\n\n')}\n`, { parser: 'markdown' })
}

function table(rows: readonly Setting<unknown>[]): string {
  const cells = rows.map((row) => [
    code(row.name),
    row.standard === '' ? '' : code(row.standard),
    escapePipes(`${row.doc}. Takes ${row.kind.takes}.${ownField(row)}`),
  ])
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`
  return [line(['Variable', 'Default', 'Meaning']), '| --- | --- | --- |', ...cells.map(line)].join('\n')
}

function ownField(row: Setting<unknown>): string {
  return 'field' in row ? ` An instance can have its own: ${code(String(row.field))}.` : ''
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

function escapePipes(text: string): string {
  return text.replaceAll('|', '\\|')
}

// A dollar sign or backtick in double quotes would be taken as an expansion by some readers of .env files.
function quoted(text: string): string {
  return /[\s$`#]/.test(text) ? `'${text}'` : text
}
