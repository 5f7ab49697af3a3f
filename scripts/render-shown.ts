// docs/shown.md, from the table of duties in src/core/shown.ts.

import { format } from 'prettier'
import { duties, knownStates, seenStates } from '../src/core/shown.ts'

const intro = [
  '# What the helpdesk shows of a message',
  'Generated from `src/core/shown.ts` by `npm run generate`.',
  'The left column is what we know of a message. The other columns are what the helpdesk shows of it. Each cell says what ' +
    'we must still do. `open` means accepted: the message will be sent. `unsent` means that it will not be sent unless ' +
    'the agent presses Retry. `unsure` means that our answer may not have arrived. `told` means failed with our reason, ' +
    '`failed` means failed with a reason that the helpdesk wrote itself. `retried` means that the helpdesk shows the ' +
    'message as sent although it showed this failure before: the agent pressed Retry. `gone` means deleted.',
  'What we know of a message comes from two places. The status of its row in the outbox says whether it is `open`, `sent` ' +
    'or `unsent`. What the phones report is kept with each part in the message map (`reported`). A sent message is ' +
    '`delivered` or `read` when each of its parts is. A part that was not sent keeps the message from it, so what the ' +
    'phones report never hides a failure.',
  'Receipts do not wait for a look: `TickWorker` sets `delivered` and `read` as soon as they are reported, and keeps in the ' +
    'message map what it has set (`ticked`). A look only repairs what the helpdesk shows wrongly. It follows the same ' +
    'reports, so the repair of a failure leads to `read` when the message was read.',
  'A row of the outbox keeps what the helpdesk showed when we last knew. When that may be wrong, the row gets a time for a ' +
    'look: the service asks the helpdesk what it shows, and does what the table says. The reasons for a look are:',
  [
    '- The message was refused, has failed or has expired, or its row was withdrawn.',
    '- The helpdesk says that the message changed: it failed there, or the agent may have pressed Retry.',
    '- We read a conversation in which the message is shown as failed.',
    '- The row is still unsure ten seconds after it was accepted, for example after a crash.',
    '- A new row has accepted a message that was refused before.',
    '- We have just set a status. A callback of that change can fail, and then the helpdesk shows a failure again. After a',
    '  tick the look is left out when the callback has come and was answered (`OwnChanges`).',
    '- The helpdesk did not answer the last look, or did not set the status.',
  ].join('\n'),
]

export function renderShownPage(): Promise<string> {
  const rows = knownStates.map((known) => [`**${known}**`, ...seenStates.map((seen) => cell(duties[known][seen]))])
  const lines = [['', ...seenStates], ['---', ...seenStates.map(() => '---')], ...rows]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  return format([...intro, table].join('\n\n'), { parser: 'markdown', printWidth: 120, proseWrap: 'always' })
}

function cell(duty: string): string {
  return duty === 'none' ? '' : duty
}
