// Loads the service. A file of its own, because an old Node does not know import().
'use strict'

import('../src/main.ts')
