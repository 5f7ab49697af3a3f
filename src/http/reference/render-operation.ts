// Renders one operation: what it does, what it takes, what it answers, and an example of both.

import { bodyOf, successOf } from './api-document.ts'
import type { ApiSchema, Operation } from './api-document.ts'
import { curlOf } from './curl.ts'
import { exampleAnswer } from './examples.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { fieldOf, fieldsOf, typeOf } from './schema-fields.ts'
import type { Field } from './schema-fields.ts'

type Words = { required: string; optional: string }

const inRequest: Words = { required: 'required', optional: 'optional' }
const inAnswer: Words = { required: '', optional: 'not always' }

export function renderOperation(operation: Operation): Html {
  const { id, method, path, summary = '', description = '', parameters = [], requestBody } = operation
  const isOpen = operation.security?.length === 0
  const given = parameters.map(({ name, required = false, description: text, schema = {} }) => {
    const field = fieldOf(name, schema, required)
    return text === undefined ? field : { ...field, description: text }
  })
  const fields = fieldsOf(bodyOf(requestBody)?.schema ?? {})
  return html`<article id="${id}">
    <h3>${renderMethod(method)} ${renderPath(path)}</h3>
    <p>${summary}.${isOpen ? html` <em class="note">No token needed.</em>` : ''}</p>
    ${description === '' ? '' : html`<p>${description}</p>`} ${given.length === 0 ? '' : html`<h4>Parameters</h4>`}
    ${renderFields(given, inRequest)} ${fields.length === 0 ? '' : html`<h4>Body</h4>`}
    ${renderFields(fields, inRequest)}
    <h4>Example</h4>
    ${renderCode(curlOf(operation))} ${renderAnswer(operation)}
  </article>`
}

export function renderMethod(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`
}

/** A long path breaks before a slash. */
export function renderPath(path: string): Html {
  const [first = '', ...others] = path.split('/')
  return html`<code>${first}${others.map((part) => html`<wbr />/${part}`)}</code>`
}

export function renderCode(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}

function renderAnswer(operation: Operation): Html {
  const { status, body } = successOf(operation)
  const example = exampleAnswer(operation)
  const others = Object.keys(operation.responses ?? {}).filter((each) => each !== status)
  const fields = fieldsOf(body?.schema ?? {})
  return html`<h4>Answer <span class="status">${status}</span></h4>
    ${example ? renderCode(written(example.value)) : html`<p>${fileText(body?.type ?? 'nothing')}</p>`}
    ${
      fields.length === 0
        ? ''
        : html`<details>
            <summary>Fields of the answer: ${typeOf(body?.schema as ApiSchema)}</summary>
            ${renderFields(fields, inAnswer)}
          </details>`
    }
    <p class="others">Other answers: ${others.map((each) => html`<a href="#errors" class="status">${each}</a> `)}</p>`
}

function fileText(type: string): string {
  return `The body is a file of the type ${type}.`
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function renderFields(fields: readonly Field[], words: Words): Html | string {
  if (fields.length === 0) return ''
  return html`<dl class="fields">
    ${fields.map(({ path, type, isRequired, takes, description }) => {
      const word = isRequired ? 'required' : 'optional'
      return html`<div>
        <dt><code>${path}</code></dt>
        <dd>${type} <span class="${word}">${words[word]}</span></dd>
        <dd>${description} <span class="takes">${takes}</span></dd>
      </div>`
    })}
  </dl>`
}
