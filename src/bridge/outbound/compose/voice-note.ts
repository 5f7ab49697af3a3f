// Converts a recording into a voice note of WhatsApp, if ffmpeg is installed.

import { spawn } from 'node:child_process'

const deadlineMs = 60_000
// Only recordings: ffmpeg would open every file that a playlist names.
const formats = 'aac,aiff,amr,asf,caf,flac,matroska,mov,mp3,ogg,wav'
const guards = ['-protocol_whitelist', 'file', '-format_whitelist', formats]

export type Transcode = (from: string, to: string, signal: AbortSignal) => Promise<boolean>

/**
 * False when ffmpeg is missing or cannot read the file. Then the recording is sent as it is. Each recording tries anew, so
 * that an operator can install ffmpeg while the service runs.
 */
export function createTranscoder(command = 'ffmpeg'): Transcode {
  return async (from, to, signal) => {
    const options = ['-nostdin', '-loglevel', 'error', '-y', ...guards, '-i', from, '-vn', '-map_metadata', '-1']
    const args = [...options, '-ac', '1', '-ar', '48000', '-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg', to]
    const ended = Promise.withResolvers<boolean>()
    const limits = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
    const child = spawn(command, args, { stdio: 'ignore', signal: limits, killSignal: 'SIGKILL' })
    child.on('error', () => {
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
