// A thread for tests of TextConverter: writes a text in capitals, fails, or ends.

import { convertInThread } from '../../src/lib/text/convert-in-thread.ts'
import { shout } from './shout.ts'

convertInThread(shout)
