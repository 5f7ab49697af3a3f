// Follows the commands of a document in order. Commands that go on running stay in the background, as in a terminal of
// their own.

import type { Command } from '../../../harness/document-commands.ts'
import type { DocumentShell, RunningCommand } from '../../../harness/document-shell.ts'

export abstract class Walk {
  protected readonly shell: DocumentShell

  protected constructor(shell: DocumentShell) {
    this.shell = shell
  }

  /** Resolves with what the commands in the foreground printed. */
  async follow(commands: readonly Command[]): Promise<string> {
    let printed = ''
    for (const block of Map.groupBy(commands, (each) => each.block).values()) printed += await this.#followBlock(block)
    return printed
  }

  /** The service answers under the URL of this walk. */
  protected abstract started(service: RunningCommand): Promise<void>
  /** The simulators have printed their addresses. */
  protected abstract simulated(simulators: RunningCommand): Promise<void>
  /** The command waits for a phone that scans its QR code. */
  protected abstract linking(command: RunningCommand): Promise<void>

  /** Commands of one block share their variables, so they run in one shell. */
  async #followBlock(block: readonly Command[]): Promise<string> {
    let printed = ''
    let waiting: string[] = []
    const begin = (...more: string[]) => {
      const script = [...waiting, ...more].join('\n')
      waiting = []
      return this.shell.start(script)
    }
    for (const { text } of block) {
      if (text === 'npm start') await this.started(begin(text))
      else if (text.startsWith('npm run sim ')) await this.simulated(begin(text))
      else if (text.startsWith('npm run link ')) {
        const command = begin(text)
        await this.linking(command)
        printed += await command.succeeds()
      } else waiting.push(text)
    }
    return waiting.length === 0 ? printed : printed + (await begin().succeeds())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shell[Symbol.asyncDispose]()
  }
}

/** Whether the service serves and owns its accounts. */
export async function isServing(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/health`).catch(() => undefined)
  const health = (await answer?.json()) as { checks: { ownership: string } } | undefined
  return health?.checks.ownership === 'held'
}
