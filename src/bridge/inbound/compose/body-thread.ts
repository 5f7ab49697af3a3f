// The thread that writes the bodies of long messages.

import { convertInThread } from '../../../lib/text/convert-in-thread.ts'
import { writeBody } from './write-body.ts'

convertInThread(writeBody)
