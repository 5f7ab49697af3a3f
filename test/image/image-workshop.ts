// A folder in which buildah builds the image. The official image of Node is replaced by a stand-in that Debian's own tools make.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const mirror = 'http://deb.debian.org/debian'
const tools = ['buildah', 'debootstrap', 'unshare', 'nsenter', 'useradd']
const mostOutput = 64 * 1024 ** 2

/** What the image says about itself, as a container engine reads it. */
export type ImageConfig = {
  User: string
  Env: string[]
  Entrypoint: string[]
  WorkingDir: string
  StopSignal: string
  Labels: Record<string, string>
  Healthcheck: { Test: string[] }
}

/** Why this machine cannot build the image, or false. */
export function whyNot(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'the image is built by root on Linux'
  const isMissing = (tool: string) => {
    try {
      execFileSync('which', [tool], { stdio: 'ignore' })
      return false
    } catch {
      return true
    }
  }
  const missing = tools.filter(isMissing)
  return missing.length > 0 && `missing: ${missing.join(', ')}; apt-get install buildah debootstrap util-linux passwd`
}

export class ImageWorkshop {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(): Promise<ImageWorkshop> {
    return new ImageWorkshop(await mkdtemp(join(tmpdir(), 'causeway-image-')))
  }

  /** Debian, the node of our own package, the npm of this machine, and the user of the official image. */
  async makeBase(name: string): Promise<void> {
    const root = join(this.folder, 'base')
    await run('debootstrap', ['--variant=minbase', 'bookworm', root, mirror], { maxBuffer: mostOutput })
    const local = join(root, 'usr/local')
    await cp(process.execPath, join(local, 'bin/node'))
    const { stdout } = await run('which', ['npm'])
    const npm = dirname(dirname(await realpath(stdout.trim())))
    await mkdir(join(local, 'lib/node_modules'), { recursive: true })
    await cp(npm, join(local, 'lib/node_modules/npm'), { recursive: true })
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
    await run('useradd', ['--root', root, '--uid', '1000', '--create-home', 'node'])
    // The official image has no packages in this folder.
    await rm(join(root, 'var/cache/apt/archives'), { recursive: true })
    const file = join(this.folder, 'base.Dockerfile')
    await writeFile(file, 'FROM scratch\nCOPY . /\n')
    await this.#buildah(['bud', '--isolation', 'chroot', '--file', file, '--tag', name, root])
    await rm(root, { recursive: true })
  }

  /** Builds the Dockerfile of this folder as it is, from a checkout that only its owner may read, as with the umask 077. */
  async build(name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const checkout = join(this.folder, 'checkout')
    const isSource = (path: string) => !['.git', 'node_modules', 'data', 'test'].includes(path)
    await cp('.', checkout, { recursive: true, filter: isSource })
    await run('chmod', ['--recursive', 'go-rwx', checkout])
    const args = Object.entries(values).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
    const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', ...args, ...(await this.#trust())]
    await this.#buildah(['bud', ...options, '--tag', name, checkout])
  }

  async configOf(name: string): Promise<ImageConfig> {
    const found = JSON.parse(await this.#buildah(['inspect', '--type', 'image', name])) as {
      Docker: { config: ImageConfig }
    }
    return found.Docker.config
  }

  async sizeOf(name: string): Promise<string> {
    return (await this.#buildah(['images', '--format', '{{.Size}}', name])).trim()
  }

  /** The folder with the files of the image. */
  async mount(name: string): Promise<string> {
    const container = (await this.#buildah(['from', '--pull-never', name])).trim()
    return (await this.#buildah(['mount', container])).trim()
  }

  /** If Node of this machine trusts an authority of its own, npm of the build does too, without a trace in the image. */
  async #trust(): Promise<string[]> {
    const authority = process.env['NODE_EXTRA_CA_CERTS'] ?? ''
    if (authority === '') return []
    const inside = '/run/npm/ca.pem'
    const settings = join(this.folder, 'npmrc')
    await writeFile(settings, `cafile=${inside}\n`)
    return ['--volume', `${authority}:${inside}:ro`, '--volume', `${settings}:/usr/local/etc/npmrc:ro`]
  }

  async #buildah(args: readonly string[]): Promise<string> {
    const store = [
      '--storage-driver',
      'vfs',
      '--root',
      join(this.folder, 'images'),
      '--runroot',
      join(this.folder, 'run'),
    ]
    const { stdout } = await run('buildah', [...store, ...args], { maxBuffer: mostOutput })
    return stdout
  }

  async [Symbol.asyncDispose](): Promise<void> {
    assert.equal(dirname(this.folder), tmpdir())
    await this.#buildah(['umount', '--all']).catch(() => undefined)
    await rm(this.folder, { recursive: true })
  }
}
