// Checks the machine and the settings of the process: ffmpeg, disk space, encryption key, and who can reach the API.

import { isLoopback } from './loopback.ts'
import { advised, broken, fine } from './finding.ts'
import type { Finding } from './finding.ts'

/** `freeBytes` is null when the directory cannot be looked at. */
export type Disk = { directory: string; freeBytes: number | null }

export type MachineFacts = {
  hasFfmpeg: boolean
  /** Where the service writes: the database, and files on their way. */
  disks: readonly Disk[]
  hasEncryptionKey: boolean
  /** HOST */
  host: string
  /** SERVICE_PUBLIC_URL */
  publicUrl: string | null
  hasApiToken: boolean
}

const megabyte = 1024 * 1024
/** Below it a single large file can fill the disk. */
const fullBytes = 128 * megabyte
const scarceBytes = 1024 * megabyte

export function checkMachine(facts: MachineFacts): Finding[] {
  return [checkFfmpeg(facts), checkDisks(facts), checkKey(facts), checkListener(facts)]
}

function checkFfmpeg({ hasFfmpeg }: MachineFacts): Finding {
  const name = 'ffmpeg'
  if (hasFfmpeg) return fine(name, 'ffmpeg can be run')
  const sentence = 'ffmpeg is missing, so recordings of agents arrive as audio files, not as voice notes'
  return advised(name, sentence, 'install ffmpeg so that the service finds it in its PATH')
}

/** The fullest disk decides. */
function checkDisks({ disks }: MachineFacts): Finding {
  const name = 'disk_space'
  const unread = disks.find(({ freeBytes }) => freeBytes === null)
  if (unread) {
    const cure = 'make sure that the directory exists, and that the service may read and write it'
    return broken(name, `the disk of ${unread.directory} cannot be looked at`, cure)
  }
  const [fullest] = disks.toSorted((one, other) => (one.freeBytes ?? 0) - (other.freeBytes ?? 0))
  const freeBytes = fullest?.freeBytes ?? Infinity
  const directory = fullest?.directory ?? ''
  const free = `${Math.floor(freeBytes / megabyte)} MB`
  const cure = `free some space on the disk of ${directory}, or make it larger`
  if (freeBytes < fullBytes) return broken(name, `the disk of ${directory} is full: ${free} are free`, cure)
  if (freeBytes < scarceBytes) return advised(name, `the disk of ${directory} is almost full: ${free} are free`, cure)
  return fine(name, `at least ${free} are free where the service writes`)
}

function checkKey({ hasEncryptionKey }: MachineFacts): Finding {
  const name = 'encryption_key'
  if (hasEncryptionKey) return fine(name, 'sessions, secrets and messages are stored encrypted')
  const sentence =
    'sessions, secrets and messages are stored in plain: a copy of the database is enough to take over the accounts'
  return advised(
    name,
    sentence,
    'set SERVICE_ENCRYPTION_KEY to 32 random bytes (openssl rand -base64 32), and keep a copy of it',
  )
}

function checkListener({ host, publicUrl, hasApiToken }: MachineFacts): Finding {
  const name = 'public_listener'
  if (hasApiToken) return fine(name, 'the API needs a token')
  if (!isLoopback(host)) {
    const cure = 'set SERVICE_API_TOKEN; or set HOST=127.0.0.1'
    return broken(name, `the API needs no token, and other machines can reach it at ${host}`, cure)
  }
  if (publicUrl === null || isLoopback(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''))) {
    return fine(name, 'the API needs no token, but only this machine can reach it')
  }
  const sentence = 'the API needs no token, and a proxy or tunnel at SERVICE_PUBLIC_URL may let other machines reach it'
  return advised(name, sentence, 'set SERVICE_API_TOKEN; or let the proxy pass on only /api/instances/<name>/webhook')
}
