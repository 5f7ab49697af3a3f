// Renders the first section of the reference page: the calls that link an account and connect it with Chatwoot.

import type { Operation } from './api-document.ts'
import { curlOf } from './curl.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { renderCode } from './render-operation.ts'

/** A step is left out if the document does not have its route. */
type Step = { route: string; text: string }

const steps: readonly Step[] = [
  {
    route: 'POST /api/instances',
    text:
      'Create an instance. With "inbox": true the service also makes the helpdesk inbox in Chatwoot: it sets the webhook ' +
      'address and reads the secret that signs the callbacks. This needs SERVICE_PUBLIC_URL, DOWNSTREAM_BASE_URL and ' +
      'DOWNSTREAM_API_TOKEN.',
  },
  {
    route: 'GET /api/instances/{name}/qr',
    text:
      'Fetch the QR code and open the picture. Scan it with the phone of the account: WhatsApp, Settings, Linked devices, ' +
      'Link a device. The code changes every 20 seconds, so fetch it again when the phone refuses it.',
  },
  {
    route: 'GET /api/instances/{name}/wait-ready',
    text: 'Wait until the account is ready. The answer has the state "ready".',
  },
  {
    route: 'POST /api/instances/{name}/check',
    text: 'Check the set-up. Each item that is not ok says what is wrong and what to do.',
  },
]

const environment = 'export SERVICE=http://127.0.0.1:3100\nexport TOKEN=the-value-of-SERVICE_API_TOKEN'

export function renderLinkAccount(operations: readonly Operation[]): Html {
  const known = new Map(operations.map((each) => [`${each.method} ${each.path}`, each]))
  return html`<section id="link-an-account">
    <h2>Link an account</h2>
    <p>
      In a terminal, <code>npm run link -- shop --inbox</code> makes all of these calls and draws the QR code. With
      curl:
    </p>
    <ol class="steps">
      <li>
        <p>Say where the service is. Without SERVICE_API_TOKEN, leave out the Authorization header.</p>
        ${renderCode(environment)}
      </li>
      ${steps.map(({ route, text }) => {
        const operation = known.get(route)
        if (!operation) return html``
        return html`<li>
          <p>${text} <a href="#${operation.id}">Details</a></p>
          ${renderCode(curlOf(operation))}
        </li>`
      })}
      <li>
        <p>
          Write a message to the number from another phone. The message appears in the helpdesk inbox. Answer there; the
          answer reaches the phone.
        </p>
      </li>
    </ol>
  </section>`
}
