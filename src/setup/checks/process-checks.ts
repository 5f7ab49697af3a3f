// Makes the checks that concern the whole process: the machine, its settings, and the way to WhatsApp.

import { isActive } from '../../core/instance.ts'
import type { InstanceState } from '../../core/instance.ts'
import type { ClientVersionState } from '../../core/network.ts'
import type { Unanswered } from '../../core/network/closing.ts'
import { untested } from './finding.ts'
import type { Finding } from './finding.ts'
import type { Machine } from './machine.ts'
import { checkMachine } from './machine-checks.ts'
import type { Disk, MachineFacts } from './machine-checks.ts'
import { checkReach, checkVersion } from './network-checks.ts'
import type { Reach } from './network-checks.ts'

type CheckedAccount = { readonly state: InstanceState; readonly record: { name: string; networkProxy: string | null } }

type Deps = {
  machine: Machine
  /** Where the service writes. */
  directories: readonly string[]
  settings: Pick<MachineFacts, 'hasEncryptionKey' | 'host' | 'publicUrl' | 'hasApiToken'>
  instances: { list(): readonly CheckedAccount[] }
  network: {
    /** Null when the network answers. */
    reach(networkProxy: string | null, signal: AbortSignal): Promise<Unanswered | null>
    readonly version: { readonly state: ClientVersionState }
  }
}

export class ProcessChecks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** With an account, WhatsApp is asked on the way of that account: through its own proxy, if it has one. */
  async run(signal: AbortSignal, account?: CheckedAccount): Promise<Finding[]> {
    const { machine, directories, settings, network } = this.#deps
    const [reach, hasFfmpeg, disks] = await Promise.all([
      this.#reach(signal, account),
      machine.runs('ffmpeg', ['-version']),
      Promise.all(directories.map((directory) => this.#diskOf(directory))),
    ])
    const reachable = reach ? checkReach(reach) : untested('whatsapp_reachable', 'there is no instance')
    return [reachable, checkVersion(network.version.state), ...checkMachine({ ...settings, hasFfmpeg, disks })]
  }

  /** Null when no account would be connected without a proxy of its own. */
  async #reach(signal: AbortSignal, account: CheckedAccount | undefined): Promise<Reach | null> {
    const { instances, network } = this.#deps
    const accounts = account ? [account] : instances.list().filter(({ record }) => record.networkProxy === null)
    if (accounts.length === 0) return null
    if (accounts.some(({ state }) => isActive(state))) return { by: 'account' }
    const unanswered = await network.reach(account?.record.networkProxy ?? null, signal)
    return unanswered ? { by: 'none', ...unanswered } : { by: 'question' }
  }

  async #diskOf(directory: string): Promise<Disk> {
    try {
      return { directory, freeBytes: await this.#deps.machine.freeBytes(directory) }
    } catch {
      return { directory, freeBytes: null }
    }
  }
}
