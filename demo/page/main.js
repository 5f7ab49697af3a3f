// Starts the page of the demo.

import { html } from '../../static/app/lib/html.js'
import { render } from '../../static/app/vendor/preact.js'
import { DemoPage } from './demo-page.js'

const root = document.getElementById('demo')
if (root) render(html`<${DemoPage} />`, root)
