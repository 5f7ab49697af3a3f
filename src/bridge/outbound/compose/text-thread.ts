// The thread that converts the long texts of agents.

import { convertInThread } from '../../../lib/text/convert-in-thread.ts'
import { markdownToText } from './markdown-to-text.ts'

convertInThread(markdownToText)
