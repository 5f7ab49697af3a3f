// Builds the site of the documentation into `_site`: `npm run docs`.

import { buildSite } from '../site/build-site.ts'

const folder = '_site'
const pages = await buildSite(folder)
console.log(`${pages.length} pages. Open ${folder}/index.html, or serve the folder ${folder} from any web server.`)
