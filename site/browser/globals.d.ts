// What the scripts before `search.js` leave for it. They are no modules, because browsers load no modules from a folder.

import type MiniSearchClass from 'minisearch'
import type { AsPlainObject } from 'minisearch'
import type { Entry } from '../search/entry.ts'

declare global {
  const MiniSearch: typeof MiniSearchClass<Entry>
  const searchIndex: AsPlainObject
}
