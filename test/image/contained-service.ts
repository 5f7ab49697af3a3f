// The service of an image as a container engine runs it: its own user, process 1, a read-only root, a volume and a tmpfs.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Answer, RequestOptions } from '../harness/http-request.ts'
import { ServiceProcess } from '../harness/service-process.ts'
import type { ImageConfig } from './image-workshop.ts'

const run = promisify(execFile)

// The arguments: root, data, working directory, user, group, PATH, and the command.
const enter = `
set -e
root=$1 data=$2 folder=$3 user=$4 group=$5 path=$6
shift 6
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=256m tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
outer=$PATH
export PATH=$path
exec $(PATH=$outer command -v unshare) --root "$root" --wd "$folder" --setuid "$user" --setgid "$group" "$@"
`

type Place = {
  /** The files of the image. */
  root: string
  /** The folder of this machine that is /data. */
  data: string
}

export type Ran = { code: number; output: string }

export class ContainedService {
  readonly #process: ServiceProcess
  readonly #config: ImageConfig
  readonly #environment: Record<string, string>
  readonly #token: string

  constructor(config: ImageConfig, { root, data }: Place, environment: Record<string, string>) {
    this.#config = config
    const own = Object.fromEntries(config.Env.map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string]))
    const { PATH: path = '', ...others } = own
    this.#environment = { ...others, ...environment }
    this.#token = environment['SERVICE_API_TOKEN'] ?? ''
    const [user = '', group = ''] = config.User.split(':')
    const args = [root, data, config.WorkingDir, user, group, path, ...config.Entrypoint]
    const launcher = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', ...args]
    this.#process = new ServiceProcess(this.#environment, '/', [], launcher)
  }

  ready(): Promise<string> {
    return this.#process.ready()
  }

  get(path: string): Promise<Answer> {
    return this.request('GET', path)
  }

  request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.#process.request(method, path, { token: this.#token, ...options })
  }

  /** Runs a command beside the service, as its user, as `docker exec` does. */
  async exec(command: readonly string[]): Promise<Ran> {
    const [user = '', group = ''] = this.#config.User.split(':')
    const path = this.#config.Env.find((each) => each.startsWith('PATH=')) ?? ''
    const target = [
      '--target',
      String(this.#pid),
      '--mount',
      '--pid',
      '--root',
      '--wd',
      '--setuid',
      user,
      '--setgid',
      group,
    ]
    const env = { PATH: process.env['PATH'], ...this.#environment }
    const ran = run('nsenter', [...target, 'env', path, ...command], { env })
    return ran.then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
        return { code, output: stdout + stderr }
      },
    )
  }

  /** Sends the signal to process 1 and answers how the container ended. */
  async stop(): Promise<{ code: number | null; signal: string | null }> {
    process.kill(this.#pid, this.#config.StopSignal)
    return this.#process.exited()
  }

  /** The number that this machine gives to process 1 of the container. */
  get #pid(): number {
    const { pid } = this.#process
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]()
  }
}
