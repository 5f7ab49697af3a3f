// Renders the OpenAPI document as one readable page: no scripts, so it works under the strictest policy.

type ApiSchema = {
  type?: string
  title?: string
  format?: string
  description?: string
  nullable?: boolean
  properties?: Record<string, ApiSchema>
  required?: readonly string[]
  items?: ApiSchema
  anyOf?: readonly ApiSchema[]
  enum?: readonly unknown[]
}
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: ApiSchema }
type Content = { content?: Record<string, { schema?: ApiSchema }> }
type Operation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  security?: readonly unknown[]
  parameters?: readonly Parameter[]
  requestBody?: Content
  responses?: Record<string, Content & { description?: string }>
}
export type ApiDocument = {
  info: { title: string; version: string; description?: string }
  tags?: readonly { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
}

export function renderReference({ info, tags = [], paths }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name))
    return html`<section>
      <h2>${name}</h2>
      <p>${description ?? ''}</p>
      ${own.map(({ path, method, operation }) => renderOperation(path, method, operation))}
    </section>`
  })
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title} ${info.version} · API reference</title>
        <link rel="stylesheet" href="reference.css" />
      </head>
      <body>
        <header>
          <img src="brand-asset.png" alt="" width="48" height="48" />
          <div>
            <h1>${info.title} <small>${info.version}</small></h1>
            <p>${info.description ?? ''} <a href="openapi.json">OpenAPI document</a></p>
          </div>
        </header>
        <main>${sections}</main>
      </body>
    </html>`.text
}

function renderOperation(path: string, method: string, operation: Operation): Html {
  const { parameters = [], requestBody, responses = {} } = operation
  const isOpen = operation.security?.length === 0
  return html`<article id="${operation.operationId ?? ''}">
    <h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
    <p>${operation.summary ?? ''}${isOpen ? html` <em>no token needed</em>` : ''}</p>
    ${operation.description ? html`<p>${operation.description}</p>` : ''}
    ${renderFields(
      'Parameters',
      parameters.map(({ schema = {}, ...rest }) => ({ ...rest, schema })),
    )}
    ${renderFields('Body', fieldsOf(schemaIn(requestBody)))}
    <table>
      <caption>
        Answers
      </caption>
      ${Object.entries(responses).map(
        ([status, response]) =>
          html`<tr>
            <th>${status}</th>
            <td>${typeOf(schemaIn(response))}</td>
          </tr>`,
      )}
    </table>
  </article>`
}

type Field = { name: string; in?: string; required?: boolean; description?: string; schema: ApiSchema }

function renderFields(caption: string, fields: readonly Field[]): Html | '' {
  if (fields.length === 0) return ''
  return html`<table>
    <caption>
      ${caption}
    </caption>
    ${fields.map(
      ({ name, required, description, schema }) =>
        html`<tr>
          <th><code>${name}</code></th>
          <td>${typeOf(schema)}${required ? ', required' : ''}</td>
          <td>${description ?? schema.description ?? ''}</td>
        </tr>`,
    )}
  </table>`
}

function fieldsOf(schema: ApiSchema | undefined): Field[] {
  return Object.entries(schema?.properties ?? {}).map(([name, each]) => ({
    name,
    schema: each,
    required: schema?.required?.includes(name) ?? false,
  }))
}

function schemaIn(part: Content | undefined): ApiSchema | undefined {
  return Object.values(part?.content ?? {})[0]?.schema
}

function typeOf(schema: ApiSchema | undefined): string {
  if (!schema) return ''
  const values = schema.anyOf?.map(({ enum: [value] = [] }) => String(value)).join(' | ')
  const base = values ?? (schema.items ? `array of ${typeOf(schema.items)}` : describeObject(schema))
  return schema.nullable ? `${base} or null` : base
}

function describeObject({ type = 'any', title = '', format, properties }: ApiSchema): string {
  if (properties) return `${title} {${Object.keys(properties).join(', ')}}`.trim()
  return format ? `${type} (${format})` : type
}

type Html = { text: string }

/** Escapes every value that is not markup from this file. */
function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string') return escape(value)
    return 'text' in value ? value.text : value.map(({ text }) => text).join('')
  })
  return { text: String.raw({ raw: parts }, ...shown) }
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
