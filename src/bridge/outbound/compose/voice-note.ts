// Turns a recording into what the network plays as a voice note, where ffmpeg is installed.

import { spawn } from 'node:child_process'

const deadlineMs = 60_000
// Recordings only: a playlist would have ffmpeg open whatever files it names.
const formats = 'aac,aiff,amr,asf,caf,flac,matroska,mov,mp3,ogg,wav'
const guards = ['-protocol_whitelist', 'file', '-format_whitelist', formats]

export type Transcode = (from: string, to: string, signal: AbortSignal) => Promise<boolean>

/** False when there is no ffmpeg, or when it could not read the file: the recording then goes out as it is. */
export function createTranscoder(command = 'ffmpeg'): Transcode {
  let isAbsent = false
  return async (from, to, signal) => {
    if (isAbsent) return false
    const options = ['-nostdin', '-loglevel', 'error', '-y', ...guards, '-i', from, '-vn', '-map_metadata', '-1']
    const args = [...options, '-ac', '1', '-ar', '48000', '-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg', to]
    const ended = Promise.withResolvers<boolean>()
    const limits = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
    const child = spawn(command, args, { stdio: 'ignore', signal: limits, killSignal: 'SIGKILL' })
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') isAbsent = true
      ended.resolve(false)
    })
    child.on('close', (code) => {
      ended.resolve(code === 0)
    })
    const isDone = await ended.promise
    signal.throwIfAborted()
    return isDone
  }
}
