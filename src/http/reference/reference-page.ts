// Renders the OpenAPI document as one readable page: no scripts, so it works under the strictest policy.

import { statusOfCode } from '../../core/errors.ts'
import { operationsOf } from './api-document.ts'
import type { ApiDocument, Operation } from './api-document.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { renderLinkAccount } from './link-account.ts'
import { renderCode, renderMethod, renderOperation, renderPath } from './render-operation.ts'

type Group = { name: string; description: string; operations: readonly Operation[] }

const exampleError = {
  error: 'there is no instance "shop"',
  error_code: 'SERVICE_INSTANCE_NOT_FOUND' satisfies keyof typeof statusOfCode,
}

/** A link in the head of the page, to what stands beside it. */
type HeadLink = { address: string; text: string }

const toHealth: HeadLink = { address: '../api/health', text: 'Health of this service' }

export function renderReference(document: ApiDocument, link = toHealth): string {
  const { info, tags = [] } = document
  const operations = operationsOf(document)
  const groups = tags.map(({ name, description = '' }) => ({
    name,
    description,
    operations: operations.filter((each) => each.tags?.includes(name)),
  }))
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title} ${info.version} · API reference</title>
        <link rel="stylesheet" href="reference.css" />
        <link rel="icon" href="favicon.ico" />
      </head>
      <body>
        <header>
          <img src="brand-asset.png" alt="" width="56" height="56" />
          <div>
            <h1>${info.title} <small>${info.version}</small></h1>
            <p>
              ${info.description ?? ''} <a href="openapi.json">OpenAPI document</a> ·
              <a href="${link.address}">${link.text}</a>
            </p>
          </div>
        </header>
        <div class="columns">
          ${renderContents(groups)}
          <main>${renderLinkAccount(operations)} ${renderErrors()} ${groups.map(renderGroup)}</main>
        </div>
      </body>
    </html>`.text
}

function renderContents(groups: readonly Group[]): Html {
  return html`<nav aria-label="Contents">
    <ul>
      <li><a href="#link-an-account">Link an account</a></li>
      <li><a href="#errors">Token and errors</a></li>
      ${groups.map(
        ({ name, operations }) =>
          html`<li>
            <a href="#${sectionOf(name)}" class="group">${name}</a>
            <ul>
              ${operations.map(
                ({ id, method, path }) =>
                  html`<li>
                    <a href="#${id}">${renderMethod(method)} ${renderPath(path.replace(/^\/api/, ''))}</a>
                  </li>`,
              )}
            </ul>
          </li>`,
      )}
    </ul>
  </nav>`
}

function renderErrors(): Html {
  const codes = Map.groupBy(Object.entries(statusOfCode), ([, status]) => status)
  return html`<section id="errors">
    <h2>Token and errors</h2>
    <p>
      Every request carries the header <code>Authorization: Bearer &lt;SERVICE_API_TOKEN&gt;</code>, except where this
      page says that no token is needed. The dashboard has a cookie instead of the header. Bodies are JSON. Unknown
      fields are ignored; a wrong type is refused with the name of the field. Times are ISO 8601 in UTC. Every error has
      a sentence for people and a code for programs:
    </p>
    ${renderCode(JSON.stringify(exampleError, null, 2))}
    <dl class="fields codes">
      ${[...codes].map(
        ([status, entries]) => html`
          <div>
            <dt><span class="status">${String(status)}</span></dt>
            <dd>${entries.map(([code]) => html`<code>${code}</code> `)}</dd>
          </div>
        `,
      )}
    </dl>
  </section>`
}

function renderGroup({ name, description, operations }: Group): Html {
  return html`<section id="${sectionOf(name)}">
    <h2 class="group">${name}</h2>
    <p>${description}</p>
    ${operations.map(renderOperation)}
  </section>`
}

function sectionOf(tag: string): string {
  return `group-${tag}`
}
