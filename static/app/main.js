// Starts the dashboard.

import { html } from './lib/html.js'
import { Dashboard } from './shell/dashboard.js'
import { render } from './vendor/preact.js'

const root = document.getElementById('app')
if (root) render(html`<${Dashboard} />`, root)
